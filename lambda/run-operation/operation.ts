import * as v from 'valibot';
import type { OperationError } from '../../domain/operations';
import { fail, type Result } from '../../domain/result';
import type { Database, DatabaseUnavailable } from '../database/database';

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

/** An operation whose input has the given fields, and no other: a misspelt one is noticed. */
export function operation<const Fields extends v.ObjectEntries>(
  fields: Fields,
  run: (
    input: v.InferOutput<v.StrictObjectSchema<Fields, undefined>>,
    ports: Ports,
  ) => Promise<Result<unknown, OperationError | DatabaseUnavailable>>,
): Operation {
  const schema = v.strictObject(fields);
  return async (input, ports) => {
    const read = v.safeParse(schema, input, { abortEarly: true });
    if (!read.success) return invalid(problemOf(read.issues[0], Object.keys(fields)));
    const outcome = await run(read.output, ports);
    if (outcome.ok) return outcome;
    return fail('kind' in outcome.error ? unavailable(outcome.error) : outcome.error);
  };
}

function problemOf(issue: v.BaseIssue<unknown>, fields: readonly string[]): string {
  const field = issue.path?.[0]?.key;
  if (field === undefined) return '"input" must be an object.';
  if (!fields.includes(String(field)))
    return `"${field}" is not a field of this operation. It has: ${fields.join(', ')}.`;
  return issue.type === 'strict_object' ? `"${field}" is missing.` : `"${field}" must be ${issue.message}.`;
}

export const invalid = (message: string) =>
  ({ ok: false, error: { code: 'input_invalid', message } }) as const;

/** The operator looks before trying again, because the change may be made. */
const unavailable = ({ kind, reason }: DatabaseUnavailable): OperationError => ({
  code: kind,
  message: `The database did not answer in time (${reason}). A change may have been made all the same. Try again in a minute.`,
});

/** The answer about a webhook that does not exist. */
export const webhookNotFound = (webhookId: string, environment: string) =>
  fail<OperationError>({
    code: 'webhook_not_found',
    message: `There is no webhook ${webhookId} in environment ${environment}. "webhook list" tells those of an organization.`,
  });

/** The answer about an organization that does not exist. */
export const organizationNotFound = (organizationId: string, environment: string) =>
  fail<OperationError>({
    code: 'organization_not_found',
    message: `There is no organization ${organizationId} in environment ${environment}. "seed" makes one.`,
  });

/** ISO 8601, UTC. @param epoch seconds since 1970 */
export const toIsoTime = (epoch: unknown): string => new Date(Math.round(Number(epoch) * 1000)).toISOString();
