import { setTimeout as sleep } from 'node:timers/promises';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { fail } from '../../domain/result';
import { connectAsOwner } from '../database/connect';
import { migrations } from '../database/migrations';
import { databaseRoles } from '../database/variables';
import { bindDependencies } from '../shared/bind-dependencies';
import { createLog, type Log, logCodes } from '../shared/log';
import { readVariables } from '../shared/variables';
import { type MigrationFailed, migrateSchema, type Role } from './migrate-schema';
import { longestWait, variables } from './variables';

export function createDependencies() {
  const secrets = new SecretsManagerClient({
    requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  });
  const { DATABASE_MASTER_SECRET_ARN, DATABASE_ROLE_SECRETS } = readVariables(variables, process.env);

  async function readSecret(arn: string): Promise<{ username: string; password: string }> {
    const { SecretString } = await secrets
      .send(new GetSecretValueCommand({ SecretId: arn }))
      .catch(({ name }: Error) => {
        throw Object.assign(new Error(`secret_${name}`), { name: secretUnreadable });
      });
    return JSON.parse(SecretString ?? '{}');
  }

  return {
    log: createLog('migrate-schema'),
    connect: () => connectAsOwner(process.env, { secretArn: DATABASE_MASTER_SECRET_ARN, readSecret }),

    /** Every role, with its password if it uses one. */
    async readRoles(): Promise<readonly Role[]> {
      const secretArns = JSON.parse(DATABASE_ROLE_SECRETS) as Partial<Record<string, string>>;
      return Promise.all(
        databaseRoles.map(async (name) => {
          const arn = secretArns[name];
          return arn ? { name, password: (await readSecret(arn)).password } : { name };
        }),
      );
    },
  };
}

export type Dependencies = ReturnType<typeof createDependencies>;

/** Migrates the schema when the stack is created or the SQL changes. A deletion does not touch the data. */
export const createHandler =
  ({ log, connect, readRoles }: Dependencies) =>
  async (event: Pick<CloudFormationCustomResourceEvent, 'RequestType'>) => {
    // Stable, so that an update never looks like a replacement, which CloudFormation would follow with a deletion.
    const PhysicalResourceId = 'schema-migration';
    if (event.RequestType === 'Delete') return { PhysicalResourceId };
    const migrate = async () => {
      const [database, roles] = await Promise.all([connect(), readRoles()]);
      return migrateSchema(database, migrations, roles).finally(() => database.close?.());
    };
    const result = await awaitDatabase(migrate, log);
    if (!result.ok) {
      log.error('Migration failed', { logCode: logCodes.migrationFailed, failure: result.error });
      throw new Error(explain(result.error));
    }
    log.info('Migration completed', { logCode: logCodes.migrationCompleted, applied: result.value });
    return { PhysicalResourceId, Data: { Applied: result.value.join(',') } };
  };

/** The message that CloudFormation shows. */
function explain(failure: MigrationFailed): string {
  if (failure.kind === 'migration_failed') return failure.message;
  const waited = `The database could not be reached for ${longestWait / 60_000} minutes`;
  return `${waited} (${failure.reason}). Files that were applied stay applied; deploy again.`;
}

type Migrated = Awaited<ReturnType<typeof migrateSchema>>;

const secretUnreadable = 'SecretUnreadable';

/** Errors during a first deployment, until its resources are consistent; as the services name them. */
const transientErrors = [
  'AccessDeniedException',
  'DatabaseNotFoundException',
  'ForbiddenException',
  'HttpEndpointNotEnabledException',
  secretUnreadable,
];

/**
 * For some minutes after its creation, an Aurora endpoint accepts no connection, the Data API does not find the cluster, and IAM
 * has not propagated every grant: https://github.com/awslabs/nx-plugin-for-aws/pull/653
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot.html#troubleshoot_general_eventual-consistency
 *
 * @param attempt must be safe to repeat
 */
export async function awaitDatabase(
  attempt: () => Promise<Migrated>,
  log: Log,
  { now = Date.now, pause = sleep as (milliseconds: number) => Promise<unknown> } = {},
): Promise<Migrated> {
  const started = now();
  for (let tries = 1; ; tries += 1) {
    const result = await attempt().catch((error: Error) => {
      if (!transientErrors.includes(error.name)) throw error;
      const reason = error.name === secretUnreadable ? error.message : error.name;
      return fail({ kind: 'database_unavailable', reason } as const);
    });
    const delay = Math.min(1_000 * 2 ** (tries - 1), 10_000);
    const waitedMs = now() - started;
    const isOver = waitedMs + delay > longestWait;
    if (result.ok || result.error.kind !== 'database_unavailable' || isOver) return result;
    const { reason } = result.error;
    log.warn('Database not ready', { logCode: logCodes.databaseNotReady, reason, tries, waitedMs });
    await pause(delay);
  }
}

export const handler = bindDependencies(createHandler, createDependencies);
