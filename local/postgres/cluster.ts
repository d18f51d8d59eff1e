import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Account, chownTo, postgresEnvironment, postgresPrograms } from './programs';

/** The files of one PostgreSQL. */
export interface Cluster {
  /** Private to PostgreSQL's account. Holds `data` and the superuser's password. */
  readonly folder: string;
  readonly data: string;
}

export const superuser = 'postgres';

const passwordFile = 'superuser-password';
const prefix = 'unfinished-';

/**
 * The data folder's path for a PostgreSQL whose working directory it is. Its account may not be able to enter the folders
 * above (a clone in /root, for one), but Linux has a name for the working directory itself.
 * https://man7.org/linux/man-pages/man5/proc_pid_cwd.5.html
 */
export const pathForPostgres = ({ uid }: Account, data: string): string =>
  uid !== undefined && process.platform === 'linux' ? '/proc/self/cwd' : data;

export function clusterIn(directory: string): Cluster {
  const folder = join(directory, 'cluster');
  return { folder, data: join(folder, 'data') };
}

export const readPassword = ({ folder }: Cluster): Promise<string> =>
  readFile(join(folder, passwordFile), 'utf8');

/** The cluster of a folder that one process uses; made on first use. */
export async function openCluster(directory: string): Promise<Cluster> {
  const cluster = clusterIn(directory);
  if (existsSync(cluster.folder)) return cluster;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // An earlier start may have been killed, and its `initdb` may still be writing.
  for (const name of await readdir(directory)) {
    if (name.startsWith(prefix)) await rm(join(directory, name), { recursive: true }).catch(() => undefined);
  }
  const draft = await mkdtemp(join(directory, prefix));
  await initialize(draft);
  await rename(draft, cluster.folder);
  return cluster;
}

async function initialize(folder: string): Promise<void> {
  const { account, initdb } = await postgresPrograms();
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
  // Detached: Ctrl-C in a terminal would end it, and make the start look failed.
  const child = spawn(initdb, options, {
    ...account,
    cwd: data,
    env: postgresEnvironment,
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const ended = new Promise<string>((resolve) => {
    child.on('error', ({ message }) => resolve(`${message} (it needs the GNU C library, unlike Alpine)`));
    child.on('exit', (code) => resolve(code === 0 ? '' : `exit code ${code}`));
  });
  const [failure, output] = await Promise.all([ended, text(child.stderr)]);
  if (failure) throw new Error(`PostgreSQL could not make its data in ${data}: ${failure}\n${output.trim()}`);
}
