import { randomBytes } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Account, giveTo, runAs } from './postgres-account';
import type { PostgresBinaries } from './postgres-binaries';

/** The files of one PostgreSQL. */
export interface Cluster {
  /** The state folder. */
  readonly directory: string;
  /** Private to PostgreSQL's account. Holds `data` and the superuser's password. */
  readonly folder: string;
  readonly data: string;
}

export const superuser = 'postgres';

/** Where data lie that PostgreSQL's account cannot reach in the state folder. /var/tmp, too, lasts beyond a boot (FHS 3.0, 5.15). */
const outsideParents = ['/var/lib', '/var/tmp'];
const outsidePrefix = 'wallet-infrastructure-';

const insideFolder = (directory: string): string => join(directory, 'cluster');
const locationFile = (directory: string): string => join(directory, 'location');
const ownerFile = (folder: string): string => join(folder, 'owner');

/**
 * The cluster of a state folder. It is made on first use: in the state folder, or, when PostgreSQL's account cannot
 * reach that (a clone in /root, say), in a folder outside that the state folder's file `location` names.
 */
export async function openCluster(
  directory: string,
  account: Account,
  binaries: PostgresBinaries,
): Promise<Cluster> {
  await mkdir(directory, { recursive: true, mode: 0o711 });
  const cluster = (await findCluster(directory)) ?? (await makeCluster(directory, account, binaries));
  const { uid } = await lstat(cluster.folder);
  const expected = account.uid === undefined ? process.getuid?.() : account.uid >>> 0;
  if (uid !== expected) {
    throw new Error(
      `The data of PostgreSQL in ${cluster.folder} belong to user ${uid}, but it is to run as user ${expected}. Run this command as the user who made them, or remove ${directory} as that user.`,
    );
  }
  return cluster;
}

export async function findCluster(directory: string): Promise<Cluster | undefined> {
  const recorded = await readFile(locationFile(directory), 'utf8').catch(() => undefined);
  const folder = recorded ?? insideFolder(directory);
  const found = await lstat(folder).catch(() => undefined);
  return found && { directory, folder, data: join(folder, 'data') };
}

export const readPassword = (cluster: Cluster): Promise<string> =>
  readFile(passwordFile(cluster.folder), 'utf8');

const passwordFile = (folder: string): string => join(folder, 'superuser-password');

/** Removes the state folder and, when its data lie outside, those. */
export async function removeCluster(directory: string): Promise<void> {
  const cluster = await findCluster(directory);
  if (cluster) await rm(cluster.folder, { recursive: true, force: true });
  await rm(directory, { recursive: true, force: true });
}

async function makeCluster(
  directory: string,
  account: Account,
  binaries: PostgresBinaries,
): Promise<Cluster> {
  await rm(locationFile(directory), { force: true });
  const unfinished = await makePrivateFolder(directory, account);
  try {
    await initialize(unfinished, account, binaries);
    await publish(directory, unfinished);
  } finally {
    if (!(await isPublished(directory, unfinished))) await rm(unfinished, { recursive: true, force: true });
  }
  const cluster = await findCluster(directory);
  if (!cluster) throw new Error(`The data of PostgreSQL have vanished from ${directory}. Start again.`);
  return cluster;
}

async function makePrivateFolder(directory: string, account: Account): Promise<string> {
  const inside = await tryPrivateFolder(join(directory, 'unfinished-'), account);
  if (typeof inside === 'string') return inside;
  const problems = [inside];
  if (account.uid !== undefined) {
    await removeSuperseded(directory);
    for (const parent of outsideParents) {
      const outside = await tryPrivateFolder(join(parent, outsidePrefix), account);
      if (typeof outside === 'string') return outside;
      problems.push(outside);
    }
  }
  throw new Error(
    `There is no folder to keep the data of PostgreSQL in:\n${problems.map((problem) => `  ${problem.message}`).join('\n')}`,
  );
}

async function tryPrivateFolder(prefix: string, account: Account): Promise<string | Error> {
  let folder: string | undefined;
  try {
    folder = await mkdtemp(prefix);
    if (account.uid === undefined) return folder;
    await giveTo(account, folder);
    const { code } = await runAs(account, '/bin/sh', ['-c', 'test -w "$0" && test -x "$0"', folder]);
    if (code === 0) return folder;
    throw new Error(`${dirname(prefix)} is closed to user ${account.uid}, who is to run PostgreSQL`);
  } catch (error) {
    if (folder) await rm(folder, { recursive: true, force: true });
    return error as Error;
  }
}

async function initialize(folder: string, account: Account, binaries: PostgresBinaries): Promise<void> {
  const password = passwordFile(folder);
  await writeFile(password, randomBytes(24).toString('base64url'), { mode: 0o600 });
  await giveTo(account, password);
  const data = join(folder, 'data');
  const { code, output } = await runAs(account, binaries.initdb, [
    `--pgdata=${data}`,
    `--username=${superuser}`,
    `--pwfile=${password}`,
    '--auth-host=scram-sha-256',
    '--auth-local=trust',
    '--encoding=UTF8',
    // The same sorting and letter case on every machine, whatever locales it has.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-sync',
    '--no-instructions',
  ]);
  if (code !== 0) throw new Error(`PostgreSQL could not make its data in ${data}:\n${output.trim()}`);
}

/** Whoever publishes first has made the cluster: two starts at once never mix their files. */
async function publish(directory: string, unfinished: string): Promise<void> {
  try {
    if (dirname(unfinished) === directory) {
      await rename(unfinished, insideFolder(directory));
    } else {
      await writeFile(ownerFile(unfinished), await realpath(directory));
      await writeFile(locationFile(directory), unfinished, { flag: 'wx', mode: 0o644 });
    }
  } catch (error) {
    if (!['EEXIST', 'ENOTEMPTY'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}

async function isPublished(directory: string, folder: string): Promise<boolean> {
  return (await findCluster(directory))?.folder === folder;
}

/** Removes data outside whose state folder was removed by hand and is now to be made anew. */
async function removeSuperseded(directory: string): Promise<void> {
  const owner = await realpath(directory);
  for (const parent of outsideParents) {
    for (const name of await readdir(parent).catch(() => [])) {
      const folder = join(parent, name);
      if (!name.startsWith(outsidePrefix)) continue;
      if ((await readFile(ownerFile(folder), 'utf8').catch(() => undefined)) === owner) {
        await rm(folder, { recursive: true, force: true });
      }
    }
  }
}
