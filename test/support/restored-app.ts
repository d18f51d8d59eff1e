import type { Environment } from '../../lib/environment';
import { environments } from '../../lib/environments';

export const snapshotName = 'before-the-mistake';

const [row] = environments.filter(({ databaseAccess }) => databaseAccess === 'data-api');
if (row === undefined) throw new Error('No row has roles with passwords.');
const { standby, ...served } = row;
const { restoreFrom, ...database } = served.database;
const alone: Environment = { ...served, database };

/** A row whose roles sign in with passwords, without a standby. */
export const formerEnvironment: Environment = alone;

/** The same row with the line that an operator adds for a restore. */
export const restoredEnvironment: Environment = {
  ...alone,
  database: {
    ...database,
    restoreFrom: { snapshot: `arn:aws:rds:${alone.region}:111122223333:cluster-snapshot:${snapshotName}` },
  },
};
