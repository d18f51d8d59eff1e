import { randomBytes } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Account, chownTo, runAs } from './account';
import type { PostgresBinaries } from './binaries';

/** The files of one PostgreSQL. */
export interface Cluster {
  /** The state folder. */
  readonly directory: string;
  /** In the state folder, private to PostgreSQL's account. Holds `data` and the superuser's password. */
  readonly folder: string;
  readonly data: string;
}

export const superuser = 'postgres';

const passwordFile = 'superuser-password';
const unfinishedPrefix = 'unfinished-';

/**
 * The path of the data folder for a PostgreSQL that starts in it. Folders above may be closed to its account (a clone in
 * /root, say), which makes the real path useless to it. Linux has a name for a process's current folder. Source: proc_pid_cwd(5), https://man7.org/linux/man-pages/man5/proc_pid_cwd.5.html
 */
export const pathForPostgres = (account: Account, data: string): string =>
  account.uid !== undefined && process.platform === 'linux' ? '/proc/self/cwd' : data;

/** The cluster of a state folder, made on first use. */
export async function openCluster(
  directory: string,
  account: Account,
  binaries: PostgresBinaries,
): Promise<Cluster> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (!(await findCluster(directory))) await makeCluster(directory, account, binaries);
  const cluster = clusterIn(directory);
  const { uid } = await lstat(cluster.folder);
  const expected = account.uid === undefined ? process.getuid?.() : account.uid >>> 0;
  if (uid !== expected) {
    throw new Error(
      `The data of PostgreSQL in ${cluster.folder} belong to user ${uid}, but it is to run as user ${expected}. Run this command as the user who made them, or remove ${directory} as that user.`,
    );
  }
  return cluster;
}

/** The cluster of a state folder; undefined when it has none yet. */
export async function findCluster(directory: string): Promise<Cluster | undefined> {
  const cluster = clusterIn(directory);
  return (await lstat(cluster.folder).catch(() => undefined)) && cluster;
}

function clusterIn(directory: string): Cluster {
  const folder = join(directory, 'cluster');
  return { directory, folder, data: join(folder, 'data') };
}

export const readPassword = (cluster: Cluster): Promise<string> =>
  readFile(join(cluster.folder, passwordFile), 'utf8');

/** Renames a complete cluster into place: this process may end at any moment. */
async function makeCluster(directory: string, account: Account, binaries: PostgresBinaries): Promise<void> {
  await removeAbandoned(directory);
  const unfinished = await mkdtemp(join(directory, unfinishedPrefix));
  try {
    await initialize(unfinished, account, binaries);
    await rename(unfinished, clusterIn(directory).folder).catch((error) => {
      // Another start was faster.
      if (error.code !== 'EEXIST' && error.code !== 'ENOTEMPTY') throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Removes the leftovers of a killed first start; those of a start under way are younger. */
async function removeAbandoned(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    if (!name.startsWith(unfinishedPrefix) || Date.now() - (await stat(path)).mtimeMs < 60_000) continue;
    await rm(path, { recursive: true, force: true });
  }
}

async function initialize(folder: string, account: Account, binaries: PostgresBinaries): Promise<void> {
  const data = join(folder, 'data');
  await mkdir(data, { mode: 0o700 });
  await writeFile(join(folder, passwordFile), randomBytes(24).toString('base64url'), { mode: 0o600 });
  for (const path of [data, join(folder, passwordFile), folder]) await chownTo(account, path);
  const options = [
    `--pgdata=${pathForPostgres(account, data)}`,
    `--username=${superuser}`,
    `--pwfile=../${passwordFile}`,
    '--auth-host=scram-sha-256',
    '--auth-local=trust',
    '--encoding=UTF8',
    // The same sorting and letter case on every machine, whatever locales it has.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    // Megabytes: of 16, the default, most would be made and copied for nothing.
    '--wal-segsize=1',
    '--no-sync',
    '--no-instructions',
  ];
  const { code, output } = await runAs(account, binaries.initdb, options, data);
  if (code !== 0) throw new Error(`PostgreSQL could not make its data in ${data}:\n${output.trim()}`);
}
