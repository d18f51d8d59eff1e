import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { yieldToOthers } from '../shared/processes';
import { type Account, chownTo, postgresEnvironment, postgresPrograms } from './programs';

/** A PostgreSQL database cluster on disk. */
export interface Cluster {
  /** Private to PostgreSQL's account. Contains `data` and the superuser's password. */
  readonly folder: string;
  readonly data: string;
}

export const superuser = 'postgres';

const passwordFile = 'superuser-password';

/**
 * The path of the data folder, which is PostgreSQL's working directory. Its account may lack access to a parent folder,
 * such as /root; on Linux, /proc/self/cwd needs none.
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

/** Opens a folder's cluster, and creates it on first use, unless aborted. Not for concurrent use. */
export async function openCluster(directory: string, signal?: AbortSignal): Promise<Cluster> {
  const cluster = clusterIn(directory);
  if (existsSync(cluster.folder)) return cluster;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // A name of its own: the `initdb` of a killed start may still be writing.
  const draft = await mkdtemp(join(directory, 'unfinished-'));
  try {
    await initialize(draft, signal);
    await rename(draft, cluster.folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return cluster;
}

async function initialize(folder: string, signal: AbortSignal | undefined): Promise<void> {
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
    // Same collation and letter case on every machine, whatever its locales.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    // Megabytes: most of the default, 16, would be created and copied unused.
    '--wal-segsize=1',
    '--no-sync',
    '--no-instructions',
  ];
  // Detached: otherwise Ctrl-C would kill it, and the start would seem to fail.
  const child = spawn(initdb, options, {
    ...account,
    cwd: data,
    env: postgresEnvironment,
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  yieldToOthers(child);
  const ended = new Promise<string>((resolve) => {
    child.on('error', ({ message }) => {
      // The program is there: its loader is not.
      const isAlpine = message.includes('ENOENT');
      resolve(isAlpine ? `${message} (it requires the GNU C library, which Alpine lacks)` : message);
    });
    child.on('exit', (code) => resolve(code === 0 ? '' : `exit code ${code}`));
  });
  // Kills its group, so its own processes too.
  const kill = () => child.pid && process.kill(-child.pid, 'SIGKILL');
  signal?.addEventListener('abort', kill);
  const [failure, output] = await Promise.all([ended, text(child.stderr)]);
  signal?.removeEventListener('abort', kill);
  signal?.throwIfAborted();
  const remedy = output.includes('user does not exist')
    ? '\nRun as a user with an entry in /etc/passwd: in a container, --user node.'
    : '';
  if (failure) throw new Error(`initdb failed in ${data}: ${failure}\n${output.trim()}${remedy}`);
}
