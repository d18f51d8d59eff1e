import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Stack } from './assembly/manifest';
import { openCluster } from './postgres/cluster';
import { StartError } from './shared/start-error';
import type { StateFolder } from './state/paths';

/** Creates the empty cluster of a new state folder while the stacks are synthesized. */
export async function prepareCluster(state: StateFolder, signal: AbortSignal): Promise<void> {
  if (!existsSync(state.environmentsDirectory)) await openCluster(state.emptyClusterDirectory, signal);
}

/**
 * The folder of an environment's PostgreSQL, created as a copy of the empty cluster. A restored database is a copy of
 * `snapshots/NAME` in the state folder, where NAME is the snapshot's name or `CLUSTER-at-TIME`, with `-` for each `:`.
 * Without that folder, the database starts empty.
 *
 * @throws StartError if the snapshot was copied while PostgreSQL was running
 */
export async function provideDatabaseFolder(
  { environment, template }: Stack,
  state: StateFolder,
  onStep: (step: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const own = state.environment(environment).databaseDirectory;
  const name = restoredFrom(template);
  const directory = name === undefined ? own : `${own}-${name}`;
  if (existsSync(directory)) return directory;
  const source = name === undefined ? state.emptyClusterDirectory : join(state.snapshotsDirectory, name);
  if (!existsSync(source)) {
    if (name) onStep(`${source} does not exist: the restored database of ${environment} starts empty`);
    return directory;
  }
  if (existsSync(join(source, 'cluster', 'data', 'postmaster.pid'))) {
    throw new StartError(
      `${source} was copied while PostgreSQL was running. Stop the environments with Ctrl-C, and copy the folder again.`,
    );
  }
  // Renamed when complete. -p keeps the owner: when we run as root, PostgreSQL's files belong to another account.
  const unfinished = `${directory}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(dirname(unfinished), { recursive: true });
  await promisify(execFile)('cp', ['-Rp', source, unfinished], { signal });
  await rename(unfinished, directory);
  if (name) onStep(`Restored the database of ${environment} from ${source}`);
  return directory;
}

function restoredFrom({ Resources }: Stack['template']): string | undefined {
  const cluster = Object.values(Resources).find(({ Type }) => Type === 'AWS::RDS::DBCluster');
  const { SnapshotIdentifier, SourceDBClusterIdentifier, RestoreToTime } = cluster?.Properties ?? {};
  const name =
    typeof SnapshotIdentifier === 'string'
      ? SnapshotIdentifier.split(':').slice(6).join(':')
      : SourceDBClusterIdentifier && `${SourceDBClusterIdentifier}-at-${RestoreToTime}`;
  return name ? String(name).replaceAll(':', '-') : undefined;
}
