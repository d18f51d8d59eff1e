import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { loadDataApi, loadDirect } from '../database/adapters';
import { readCertificateAuthorities } from '../database/certificate-authorities';
import type { TransactionalDatabase } from '../database/database';
import { databaseRoles } from '../database/environment';
import { migrations } from '../database/migrations';
import { bind } from '../shared/bind';
import { readVariables } from '../shared/environment';
import { createLog, logCodes } from '../shared/log';
import { awaitDatabase, longestWait, SecretUnreadable } from './await-database';
import { variables } from './environment';
import type { Role } from './migrate-schema';
import { type MigrationFailed, migrateSchema } from './migrate-schema';

/**
 * Milliseconds for one file of migrations. The function's own timeout (14 minutes) is above both, and the Data API gives up before:
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/data-api-timeouts.html
 */
const fileTimeout = { dataApi: 60_000, direct: 10 * 60_000 };

interface Secret {
  readonly username: string;
  readonly password: string;
}

export function createDependencies() {
  const secrets = new SecretsManagerClient({
    requestHandler: { connectionTimeout: 3_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  });
  const readSecret = async (arn: string): Promise<Secret> => {
    const { SecretString } = await secrets
      .send(new GetSecretValueCommand({ SecretId: arn }))
      .catch(({ name }: Error) => Promise.reject(new SecretUnreadable(`secret_${name}`)));
    return JSON.parse(SecretString ?? '{}') as Secret;
  };

  return {
    log: createLog('migrate-schema'),

    /** The database, signed in as its owner. */
    async connect(): Promise<TransactionalDatabase & { close?(): Promise<void> }> {
      if (process.env.DATABASE_ACCESS === 'data-api') {
        const settings = readVariables(variables['data-api'], process.env);
        return loadDataApi().createDataApiDatabase({
          clusterArn: settings.DATABASE_CLUSTER_ARN,
          secretArn: settings.DATABASE_MASTER_SECRET_ARN,
          database: settings.DATABASE_NAME,
          callTimeout: fileTimeout.dataApi,
          resumeTimeout: 120_000,
        });
      }
      const settings = readVariables(variables.direct, process.env);
      const owner = await readSecret(settings.DATABASE_MASTER_SECRET_ARN);
      return loadDirect().createDirectDatabase({
        host: settings.DATABASE_HOST,
        port: Number(settings.DATABASE_PORT),
        database: settings.DATABASE_NAME,
        user: owner.username,
        password: () => owner.password,
        certificateAuthorities: readCertificateAuthorities(settings.DATABASE_CERTIFICATE_AUTHORITIES),
        callTimeout: fileTimeout.direct,
      });
    },

    /** Every role, with its password where it signs in with one. */
    async readRoles(): Promise<readonly Role[]> {
      const { DATABASE_ROLE_SECRETS } = readVariables(['DATABASE_ROLE_SECRETS'], process.env);
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

/** Stable, so that an update never looks like a replacement, which CloudFormation would follow with a deletion. */
const physicalResourceId = 'schema-migration';

/** Brings the schema up to date when the stack is created or its SQL changes. A deletion leaves the data alone. */
export const createHandler =
  ({ log, connect, readRoles }: Dependencies) =>
  async (event: Pick<CloudFormationCustomResourceEvent, 'RequestType'>) => {
    if (event.RequestType === 'Delete') return { PhysicalResourceId: physicalResourceId };
    const migrate = async () => {
      const [database, roles] = await Promise.all([connect(), readRoles()]);
      return migrateSchema(database, migrations, roles).finally(() => database.close?.());
    };
    const result = await awaitDatabase(migrate, { log });
    if (!result.ok) {
      log.error('Migration failed', { logCode: logCodes.migrationFailed, failure: result.error });
      throw new Error(explain(result.error));
    }
    log.info('Migration completed', { logCode: logCodes.migrationCompleted, applied: result.value });
    return { PhysicalResourceId: physicalResourceId, Data: { Applied: result.value.join(',') } };
  };

/** The message that CloudFormation shows. */
function explain(failure: MigrationFailed): string {
  switch (failure.kind) {
    case 'edited':
      return `Migration ${failure.migration} was applied before and has been edited since. Restore the file and write a new one.`;
    case 'refused':
      return `Migration ${failure.migration} failed and was rolled back: ${failure.message} (SQLSTATE ${failure.sqlState}).`;
    case 'timed_out':
      return `Migration ${failure.migration} took longer than a file may and was rolled back. Split it; files that were applied stay applied.`;
    case 'database_unavailable':
      return `The database could not be reached for ${longestWait / 60_000} minutes (${failure.reason}). Files that were applied stay applied; deploy again.`;
  }
}

export const handler = bind(createHandler, createDependencies);
