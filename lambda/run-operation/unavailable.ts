import type { DatabaseUnavailable } from '../database/database';
import { fail } from '../shared/result';

/** The answer when the database did not: the operator looks before trying again, because the change may be made. */
export const unavailable = ({ kind, reason }: DatabaseUnavailable) =>
  fail({
    code: kind,
    message: `The database did not answer in time (${reason}). A change may have been made all the same. Try again in a minute.`,
  });
