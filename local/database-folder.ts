import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Stack } from './assembly/manifest';
import { openCluster } from './postgres/cluster';
import type { StateFolder } from './state/paths';

/**
 * Creates the empty cluster of a new state folder, and a copy for each environment, while the stacks are synthesized.
 *
 * @param names of the environments
 */
export async function prepareClusters(
  { environmentsDirectory, emptyClusterDirectory, newDatabasesDirectory }: StateFolder,
  names: () => readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (existsSync(environmentsDirectory)) return;
  await openCluster(emptyClusterDirectory, signal);
  // Those of a killed start may be incomplete.
  await rm(newDatabasesDirectory, { recursive: true, force: true });
  await mkdir(newDatabasesDirectory);
  await Promise.all(
    names().map((name) => copy(emptyClusterDirectory, join(newDatabasesDirectory, name), signal)),
  );
}

/** -p keeps the owner: when we run as root, PostgreSQL's files belong to another account. */
const copy = (source: string, target: string, signal: AbortSignal) =>
  promisify(execFile)('cp', ['-Rp', source, target], { signal });

/**
 * The folder of an environment's PostgreSQL, created as a copy of the empty cluster. A restored database has a folder of
 * its own, and starts empty.
 */
export async function provideDatabaseFolder(
  { environment, template }: Stack,
  { emptyClusterDirectory, newDatabasesDirectory, ...state }: StateFolder,
  signal: AbortSignal,
): Promise<string> {
  const { databaseDirectory, customResourcesFile, messagesFile } = state.environment(environment);
  const directory = `${databaseDirectory}${restoredFrom(template)}`;
  if (existsSync(directory)) return directory;
  // Written for an earlier database. At once: this start's custom resources do not wait for PostgreSQL.
  for (const file of [customResourcesFile, messagesFile]) rmSync(file, { force: true });
  await mkdir(dirname(directory), { recursive: true });
  const prepared = join(newDatabasesDirectory, environment);
  if (existsSync(prepared)) {
    await rename(prepared, directory);
  } else if (existsSync(emptyClusterDirectory)) {
    // Renamed when complete.
    const unfinished = `${directory}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    await copy(emptyClusterDirectory, unfinished, signal);
    await rename(unfinished, directory);
  }
  return directory;
}

/** What a database is restored from, as the end of a folder's name; empty if it is not. */
function restoredFrom({ Resources }: Stack['template']): string {
  const cluster = Object.values(Resources).find(({ Type }) => Type === 'AWS::RDS::DBCluster');
  const { SnapshotIdentifier, SourceDBClusterIdentifier, RestoreToTime } = cluster?.Properties ?? {};
  const time = SourceDBClusterIdentifier && `${SourceDBClusterIdentifier}-at-${RestoreToTime}`;
  const source: string | undefined = SnapshotIdentifier ?? time;
  return source ? `-${source.replace(/\W/g, '-')}` : '';
}
