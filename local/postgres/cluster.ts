import { randomBytes } from 'node:crypto';
import { lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Account, chownTo, postgresPrograms, runAs } from './programs';

/** The files of one PostgreSQL. */
export interface Cluster {
  /** In the state folder, private to PostgreSQL's account. Holds `data` and the superuser's password. */
  readonly folder: string;
  readonly data: string;
}

export const superuser = 'postgres';

const passwordFile = 'superuser-password';
const prefix = 'unfinished-';

/**
 * The path of the data folder for a PostgreSQL that starts in it. Folders above may be closed to its account (a clone in
 * /root, say), which makes the real path useless to it. Linux has a name for a process's current folder. Source:
 * proc_pid_cwd(5), https://man7.org/linux/man-pages/man5/proc_pid_cwd.5.html
 */
export const pathForPostgres = (account: Account, data: string): string =>
  account.uid !== undefined && process.platform === 'linux' ? '/proc/self/cwd' : data;

/** The cluster of a state folder, whether it exists or not. */
export function clusterIn(directory: string): Cluster {
  const folder = join(directory, 'cluster');
  return { folder, data: join(folder, 'data') };
}

export const readPassword = ({ folder }: Cluster): Promise<string> =>
  readFile(join(folder, passwordFile), 'utf8');

/** The cluster of a state folder that one process uses; made on first use. */
export async function openCluster(directory: string): Promise<Cluster> {
  const cluster = clusterIn(directory);
  if (await lstat(cluster.folder).catch(() => undefined)) return cluster;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // Renamed when it is complete: this process may end at any moment. Its `initdb` would go on in the folder meanwhile.
  for (const name of await readdir(directory)) {
    if (name.startsWith(prefix)) await rm(join(directory, name), { recursive: true }).catch(() => undefined);
  }
  const unfinished = await mkdtemp(join(directory, prefix));
  await initialize(unfinished);
  await rename(unfinished, cluster.folder);
  return cluster;
}

async function initialize(folder: string): Promise<void> {
  const { account, initdb } = await postgresPrograms();
  const data = join(folder, 'data');
  await mkdir(data, { recursive: true, mode: 0o700 });
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
  const { code, output } = await runAs(account, initdb, options, data);
  if (code !== 0) throw new Error(`PostgreSQL could not make its data in ${data}:\n${output.trim()}`);
}
