import { execFile } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Stack } from './assembly/manifest';
import type { StateFolder } from './state/paths';

/** Whether no environment has a database, so that all will start with an empty one. */
export function isNew({ environmentsDirectory, environment }: StateFolder): boolean {
  const names = existsSync(environmentsDirectory) ? readdirSync(environmentsDirectory) : [];
  return !names.some((name) => existsSync(environment(name).databaseDirectory));
}

/**
 * The folder of an environment's PostgreSQL, created as a copy of the empty cluster, if there is one.
 *
 * @param source what the database is restored from: it has a folder of its own, and starts empty
 * @param isLast whether nobody else needs the empty cluster, which becomes this one's
 */
export async function provideDatabaseFolder(
  environment: string,
  source: string,
  { emptyClusterDirectory, ...state }: StateFolder,
  signal: AbortSignal,
  isLast = false,
): Promise<string> {
  const { databaseDirectory, customResourcesFile, messagesFile } = state.environment(environment);
  const directory = `${databaseDirectory}${source}`;
  if (existsSync(directory)) return directory;
  // Written for an earlier database. At once: this start's custom resources do not wait for PostgreSQL.
  for (const file of [customResourcesFile, messagesFile]) rmSync(file, { force: true });
  await mkdir(dirname(directory), { recursive: true });
  if (isLast) {
    await rename(emptyClusterDirectory, directory);
  } else if (existsSync(emptyClusterDirectory)) {
    // Renamed when complete.
    const unfinished = `${directory}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    // -p keeps the owner: when we run as root, PostgreSQL's files belong to another account.
    await promisify(execFile)('cp', ['-Rp', emptyClusterDirectory, unfinished], { signal });
    await rename(unfinished, directory);
  }
  return directory;
}

/** What a database is restored from, as the end of a folder's name; empty if it is not. */
export function restoredFrom({ Resources }: Stack['template']): string {
  const cluster = Object.values(Resources).find(({ Type }) => Type === 'AWS::RDS::DBCluster');
  const { SnapshotIdentifier, SourceDBClusterIdentifier, RestoreToTime } = cluster?.Properties ?? {};
  const time = SourceDBClusterIdentifier && `${SourceDBClusterIdentifier}-at-${RestoreToTime}`;
  const source: string | undefined = SnapshotIdentifier ?? time;
  return source ? `-${source.replace(/\W/g, '-')}` : '';
}
