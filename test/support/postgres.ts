import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openCluster } from '../../local/postgres/cluster';
import { type Postgres, removePostgres, startPostgres as startIn } from '../../local/postgres/postgres';
import { isAlive } from '../../local/processes';
import { eventually } from './eventually';
import { childrenOf } from './local-command';
import { folderOncePerRun } from './once-per-run';

export interface TestPostgres extends Postgres {
  readonly database: 'postgres';
  /** Kills all of its processes at once, as a crash does. */
  kill(): Promise<void>;
}

/**
 * A new, empty PostgreSQL 17 in a temporary folder, which `stop` removes. Takes about half a second.
 *
 * @param options `durable`: whether commits survive a loss of power, and not only a crash. Off by default: it is faster.
 */
export async function startPostgres({ durable = false } = {}): Promise<TestPostgres> {
  const directory = await mkdtemp(join(tmpdir(), 'wallet-test-'));
  const start = async () => {
    await copyNewCluster(directory);
    return startIn({ directory, durable });
  };
  const postgres = await start().catch(async (error) => {
    await rm(directory, { recursive: true, force: true });
    throw error;
  });
  const { stop } = postgres;
  return Object.assign(postgres, {
    database: 'postgres' as const,
    async stop() {
      await stop();
      await removePostgres(directory);
    },
    async kill() {
      const { pid } = postgres;
      killServer(pid);
      await eventually(() => !isAlive(pid));
    },
  });
}

/** Kills all processes of a server at once, as a crash does. */
export function killServer(postmaster: number): void {
  // The main process is stopped first, so that it does not react, and killed last, so that its children do not.
  process.kill(postmaster, 'SIGSTOP');
  for (const pid of [...childrenOf(postmaster), postmaster]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has exited.
    }
  }
}

/**
 * Copies a cluster that is created once in a test run into the folder of a PostgreSQL: ten times as fast
 * as `initdb`.
 */
export async function copyNewCluster(directory: string): Promise<void> {
  const made = await folderOncePerRun('postgres', async (folder) => {
    await openCluster(folder);
  });
  if (made) copyWithOwners(join(made, 'cluster'), join(directory, 'cluster'));
}

/** Node's own copy does not preserve the owner, PostgreSQL's account. */
export function copyWithOwners(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  execFileSync('cp', ['-Rp', from, to]);
}
