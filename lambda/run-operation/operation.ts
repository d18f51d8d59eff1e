import type { OperationError } from '../../domain/operations';
import { fail, type Result } from '../../domain/result';
import type { Database, DatabaseUnavailable } from '../database/database';
import { type Input, readInput, type Shape } from './request';

/** What operations work on. */
export interface Ports {
  readonly database: Database;
  /** The environment's name, for messages. */
  readonly environment: string;
  /** Whether webhooks may go to this very machine: see `localReceiversVariable`. @default false */
  readonly localReceivers?: boolean;
}

/** Something that an operator does to a region: checks its input, then does it. The result is JSON. */
export type Operation = (input: unknown, ports: Ports) => Promise<Result<unknown, OperationError>>;

/** An operation whose input has the given shape; any other input is refused as `input_invalid`. */
export function operation<const S extends Shape>(
  shape: S,
  run: (input: Input<S>, ports: Ports) => Promise<Result<unknown, OperationError | DatabaseUnavailable>>,
): Operation {
  return async (input, ports) => {
    const read = readInput(shape, input);
    if (!read.ok) return read;
    const outcome = await run(read.value, ports);
    if (outcome.ok) return outcome;
    return fail('kind' in outcome.error ? unavailable(outcome.error) : outcome.error);
  };
}

/** The operator looks before trying again, because the change may be made. */
const unavailable = ({ kind, reason }: DatabaseUnavailable): OperationError => ({
  code: kind,
  message: `The database did not answer in time (${reason}). A change may have been made all the same. Try again in a minute.`,
});
