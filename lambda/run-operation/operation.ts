import type { OperationError, OperationName, ValidInput } from '../../domain/operations';
import { fail, type Result } from '../../domain/result';
import type { Database, DatabaseUnavailable, Row } from '../database/database';

export interface Ports {
  readonly database: Database;
  readonly environment: string;
  readonly apiUrl: string;
  readonly dashboardUrl: string;
  /** Whether webhooks may go to this machine: see `localReceiversVariable`. @default false */
  readonly localReceivers?: boolean;
}

/** Operators' commands on a region, by name. Results are JSON. */
export type Operations = {
  readonly [Name in OperationName]: (
    input: ValidInput<Name>,
    ports: Ports,
  ) => Promise<Result<unknown, OperationError | DatabaseUnavailable>>;
};

export const webhookNotFound = (webhookId: string, environment: string) =>
  fail<OperationError>({
    code: 'webhook_not_found',
    message: `There is no webhook ${webhookId} in environment ${environment}.`,
  });

export const organizationNotFound = (organizationId: string, environment: string) =>
  fail<OperationError>({
    code: 'organization_not_found',
    message: `There is no organization ${organizationId} in environment ${environment}.`,
  });

/** ISO 8601, UTC. @param epoch seconds since 1970 */
export const toIsoTime = (epoch: unknown): string => new Date(Math.round(Number(epoch) * 1000)).toISOString();

/** The row with these columns, which are null or seconds since 1970, in ISO 8601. */
export const withTimes = (row: Row, ...columns: readonly string[]): Row => ({
  ...row,
  ...Object.fromEntries(columns.map((name) => [name, row[name] === null ? null : toIsoTime(row[name])])),
});
