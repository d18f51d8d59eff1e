import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Stack } from './assembly/manifest';
import { openCluster } from './postgres/cluster';
import { StartError, type StateFolder } from './state';

/** Makes an empty cluster for environments to begin with, unless there are some: while the stacks are synthesized. */
export async function prepareCluster(state: StateFolder): Promise<void> {
  if (existsSync(state.environmentsDirectory)) return;
  await openCluster(state.emptyClusterDirectory);
}

/**
 * The folder of an environment's PostgreSQL, which begins as a copy of an empty one if there is one. A restored one has a
 * folder of its own, which begins as the copy `snapshots/NAME` in the state folder. NAME is that of the snapshot, or
 * `CLUSTER-at-TIME`, each `:` as `-`. Without such a copy the database begins empty, as on another machine: `onStep` gets a
 * line.
 *
 * @throws StartError when the copy was made while PostgreSQL ran
 */
export async function provideDatabaseFolder(
  { environment, template }: Stack,
  state: StateFolder,
  onStep: (step: string) => void,
): Promise<string> {
  const own = state.environment(environment).databaseDirectory;
  const name = restoredFrom(template);
  const directory = name === undefined ? own : `${own}-${name}`;
  if (existsSync(directory)) return directory;
  if (name === undefined) {
    if (existsSync(state.emptyClusterDirectory)) await copy(state.emptyClusterDirectory, directory);
    return directory;
  }
  const snapshot = join(state.snapshotsDirectory, name);
  if (!existsSync(snapshot)) {
    onStep(`There is no ${snapshot}: the restored database of ${environment} begins empty`);
    return directory;
  }
  if (existsSync(join(snapshot, 'cluster', 'data', 'postmaster.pid'))) {
    throw new StartError(
      `${snapshot} was copied while PostgreSQL ran. Stop the environments with Ctrl-C, and copy the folder again.`,
    );
  }
  await copy(snapshot, directory);
  onStep(`Restored the database of ${environment} from ${snapshot}`);
  return directory;
}

function restoredFrom({ Resources }: Stack['template']): string | undefined {
  const cluster = Object.values(Resources).find(({ Type }) => Type === 'AWS::RDS::DBCluster');
  const { SnapshotIdentifier, SourceDBClusterIdentifier, RestoreToTime } = cluster?.Properties ?? {};
  const name =
    typeof SnapshotIdentifier === 'string'
      ? SnapshotIdentifier.split(':').slice(6).join(':')
      : SourceDBClusterIdentifier
        ? `${SourceDBClusterIdentifier}-at-${RestoreToTime}`
        : undefined;
  return name === undefined ? undefined : String(name).replaceAll(':', '-');
}

/** With owners: as root, PostgreSQL's files belong to another account. Complete or not there at all. */
async function copy(from: string, to: string): Promise<void> {
  const draft = `${to}.unfinished`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(dirname(draft), { recursive: true });
  await promisify(execFile)('cp', ['-Rp', from, draft]);
  await rename(draft, to);
}
