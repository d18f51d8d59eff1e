import type { CloudFormationCustomResourceEvent } from 'aws-lambda';
import { migrations } from '../database/migrations';
import { bind } from '../shared/bind';
import { logCodes } from '../shared/log';
import { awaitDatabase, longestWait } from './await-database';
import { createDependencies, type Dependencies } from './dependencies';
import { type MigrationFailed, migrateSchema } from './migrate-schema';

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
