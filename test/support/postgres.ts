import { execFile } from 'node:child_process';
import { lstat, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { postgresAccount } from '../../lib/local/postgres/account';
import { postgresBinaries } from '../../lib/local/postgres/binaries';
import { openCluster } from '../../lib/local/postgres/cluster';
import { type Postgres, removePostgres, startPostgres as startIn } from '../../lib/local/postgres/postgres';
import { sharedFolder } from './once-per-run';

export interface TestPostgres extends Postgres {
  readonly database: 'postgres';
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
  });
}

/**
 * Copies a cluster that was made once in a run of the tests into the folder of a PostgreSQL: a copy takes a tenth of the
 * time of `initdb`.
 */
export async function copyNewCluster(directory: string): Promise<void> {
  const folder = sharedFolder();
  if (!folder) return;
  const prepared = join(folder, 'postgres');
  if (!(await lstat(prepared).catch(() => undefined))) {
    const unfinished = await mkdtemp(`${prepared}-`);
    const account = postgresAccount();
    await openCluster(unfinished, account, await postgresBinaries(account));
    await rename(unfinished, prepared).catch((error) => {
      // Another test file was faster.
      if (error.code !== 'EEXIST' && error.code !== 'ENOTEMPTY') throw error;
    });
  }
  // With its owner, which Node's own copy does not keep.
  await promisify(execFile)('cp', ['-Rp', join(prepared, 'cluster'), directory]);
}
