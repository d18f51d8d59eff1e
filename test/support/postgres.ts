import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { clusterIn, readPassword } from '../../local/postgres/cluster';
import { removePostgres, startPostgres as startIn } from '../../local/postgres/postgres';
import { stateFolder } from '../../local/state/paths';
import { createAuthority } from './certificates';
import { childrenOf } from './local-command';
import { sharedInRun } from './once-per-run';

export type TestPostgres = Awaited<ReturnType<typeof startPostgres>>;

/** A new, empty PostgreSQL with TLS in a temporary folder, which `stop` removes. Takes about half a second. */
export async function startPostgres() {
  const { issue, cert: certificateAuthorities } = await createAuthority();
  const certificate = await issue({ name: 'localhost' });
  const directory = mkdtempSync(join(tmpdir(), 'wallet-test-'));
  await copyNewCluster(directory);
  const postgres = await startIn({ directory, durable: false, certificate });
  const stop = () => postgres.stop().then(() => removePostgres(directory));
  return { ...postgres, database: 'postgres', certificateAuthorities, stop };
}

/** Copies the folder of a PostgreSQL that runs, as a snapshot of its volume: what it wrote until one moment. */
export function copyRunning(from: string, to: string): void {
  const pidFile = (directory: string) => join(clusterIn(directory).data, 'postmaster.pid');
  const postmaster = Number(readFileSync(pidFile(from), 'utf8').split('\n')[0]);
  const processes = [postmaster, ...childrenOf(postmaster)];
  try {
    for (const pid of processes) process.kill(pid, 'SIGSTOP');
    copyWithOwners(from, to);
  } finally {
    for (const pid of processes) process.kill(pid, 'SIGCONT');
  }
  rmSync(pidFile(to));
}

/** Copies the run's cluster, ten times as fast as `initdb`, into the folder of a PostgreSQL. Does nothing outside Jest. */
export async function copyNewCluster(directory: string): Promise<void> {
  if (process.env.SHARED_IN_RUN_URL)
    copyWithOwners((await sharedInRun('cluster')).directory, join(directory, 'cluster'));
}

/** Node's own copy does not preserve the owner, PostgreSQL's account. */
export function copyWithOwners(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  execFileSync('cp', ['-Rp', from, to]);
}

export const databaseDirectory = (stateDirectory: string, name: string): string =>
  stateFolder(stateDirectory).environment(name).databaseDirectory;

/** The PostgreSQL of a local environment, for tests that disturb it: a superuser's connection. */
export async function openLocalDatabase(stateDirectory: string, environment: string) {
  const cluster = clusterIn(databaseDirectory(stateDirectory, environment));
  const [, , , port] = readFileSync(join(cluster.data, 'postmaster.pid'), 'utf8').split('\n');
  const password = await readPassword(cluster);
  const client = new Client({ connectionString: `postgres://postgres:${password}@127.0.0.1:${port}/wallet` });
  client.on('error', () => undefined);
  await client.connect();
  return { client, close: () => client.end() };
}
