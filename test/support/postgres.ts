import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Postgres, removePostgres, startPostgres as startIn } from '../../lib/local/postgres/postgres';

export interface TestPostgres extends Postgres {
  readonly database: 'postgres';
}

/**
 * A new, empty PostgreSQL 17 in a temporary folder. `stop` removes all of it. It takes about half a second.
 *
 * @param options `durable`: whether what is committed survives a crash. Off by default: it is faster.
 */
export async function startPostgres({ durable = false } = {}): Promise<TestPostgres> {
  const directory = await mkdtemp(join(tmpdir(), 'wallet-test-'));
  const postgres = await startIn({ directory, durable }).catch(async (error) => {
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
