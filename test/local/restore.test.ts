import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { provideDatabaseFolder } from '../../local/restore';
import { openState, type State } from '../../local/state/lock';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();
let state: State;
let snapshot: string;
beforeEach(() => {
  state = openState(folder());
  snapshot = join(state.snapshotsDirectory, 'daily-1');
  mkdirSync(join(snapshot, 'cluster/data'), { recursive: true });
  writeFileSync(join(snapshot, 'cluster/data/PG_VERSION'), '17');
});
afterEach(() => state.close());

const provide = (Properties: object) => {
  const template = { Resources: { Database: { Type: 'AWS::RDS::DBCluster', Properties } } };
  const stack = { environment: 'eu', template } as never;
  return provideDatabaseFolder(stack, state, () => undefined, new AbortController().signal);
};
const arn = 'arn:aws:rds:eu-central-1:000000000000:cluster-snapshot:';

it('copies a snapshot once, and refuses one that was copied while PostgreSQL was running', async () => {
  const lock = join(snapshot, 'cluster/data/postmaster.pid');
  writeFileSync(lock, '1');
  await expect(provide({ SnapshotIdentifier: `${arn}daily:1` })).rejects.toThrow(
    /was copied while PostgreSQL was running/,
  );
  rmSync(lock);
  const copy = await provide({ SnapshotIdentifier: `${arn}daily:1` });
  expect(readFileSync(join(copy, 'cluster/data/PG_VERSION'), 'utf8')).toBe('17');
  rmSync(snapshot, { recursive: true });
  expect(await provide({ SnapshotIdentifier: `${arn}daily:1` })).toBe(copy);
  const empty = await provide({ SourceDBClusterIdentifier: 'eu', RestoreToTime: '2026-11-26T00:00:00Z' });
  expect([empty.endsWith('postgres-eu-at-2026-11-26T00-00-00Z'), existsSync(empty)]).toEqual([true, false]);
});
