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
  /** Ends all of its processes at once, as a crash does. */
  kill(): Promise<void>;
}

/**
 * A new, empty PostgreSQL 17 in a temporary folder. `stop` removes all of it. It takes about half a second.
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

/** Ends all processes of a server at once, as a crash does. */
export function killServer(postmaster: number): void {
  // Stopped first, so that it neither starts another process nor sees one end; and killed last, so that none sees it end.
  process.kill(postmaster, 'SIGSTOP');
  for (const pid of [...childrenOf(postmaster), postmaster]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}

/**
 * Copies a cluster that was made once in a run of the tests into the folder of a PostgreSQL: a copy takes a tenth of the
 * time of `initdb`.
 */
export async function copyNewCluster(directory: string): Promise<void> {
  const made = await folderOncePerRun('postgres', async (folder) => {
    await openCluster(folder);
  });
  if (made) copyWithOwners(join(made, 'cluster'), join(directory, 'cluster'));
}

/** PostgreSQL's files are its account's, and Node's own copy does not keep that. */
export function copyWithOwners(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  execFileSync('cp', ['-Rp', from, to]);
}
