import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, isRunningIn } from '../processes';
import type { Cluster } from './cluster';

interface Owner {
  /** The process that started PostgreSQL. */
  readonly pid: number;
  readonly socketDirectory: string;
}

/** Not beside the data, where PostgreSQL's account may write: the folder that it names is removed. */
const ownerFile = (cluster: Cluster): string => join(cluster.directory, 'started-by.json');
const lockFile = (cluster: Cluster): string => join(cluster.data, 'postmaster.pid');

export async function recordOwner(cluster: Cluster, socketDirectory: string): Promise<void> {
  const owner: Owner = { pid: process.pid, socketDirectory };
  await writeFile(ownerFile(cluster), JSON.stringify(owner), { mode: 0o600 });
}

async function readOwner(cluster: Cluster): Promise<Owner | undefined> {
  try {
    return JSON.parse(await readFile(ownerFile(cluster), 'utf8'));
  } catch {
    // Not there, or cut short by a loss of power.
    return undefined;
  }
}

/**
 * Clears what an earlier process left when it could not stop PostgreSQL: a running server, a lock file whose process id
 * is now another program's (after a loss of power, or in a new container), sockets.
 *
 * @throws Error when PostgreSQL is running for a process that is alive.
 */
export async function clearOrphanedServer(cluster: Cluster): Promise<void> {
  const lock = await readFile(lockFile(cluster), 'utf8').catch(() => undefined);
  if (lock === undefined) return;
  const pid = Number(lock.split('\n', 1)[0]);
  const owner = await readOwner(cluster);
  if (isPostgres(pid, cluster)) {
    await stopOrphan(pid, cluster, owner);
  } else if (isAlive(pid)) {
    // PostgreSQL itself takes over the lock of a process that is gone, but not that of another program.
    await rm(lockFile(cluster), { force: true });
  }
  if (owner) await rm(owner.socketDirectory, { recursive: true, force: true });
}

async function stopOrphan(pid: number, cluster: Cluster, owner: Owner | undefined): Promise<void> {
  if (!owner || isAlive(owner.pid)) {
    const starter = owner ? `, started by process ${owner.pid}` : '';
    throw new Error(
      `PostgreSQL is already running on ${cluster.data}: process ${pid}${starter}. Stop ${owner ? 'that one' : 'it'} first (kill ${owner?.pid ?? pid}), or use another state folder.`,
    );
  }
  for (const [signal, seconds] of [
    ['SIGINT', 10],
    ['SIGQUIT', 5],
    ['SIGKILL', 5],
  ] as const) {
    if (isPostgres(pid, cluster)) process.kill(pid, signal);
    for (let waited = 0; waited < seconds * 20 && isPostgres(pid, cluster); waited += 1) await sleep(50);
  }
}

const isPostgres = (pid: number, { data }: Cluster): boolean => isRunningIn(pid, 'postgres', data);
