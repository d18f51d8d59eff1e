import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { clusterIn, readPassword } from '../../local/postgres/cluster';
import { stateFolder } from '../../local/state/paths';

/** The folder of an environment's PostgreSQL. */
export const databaseDirectory = (stateDirectory: string, name: string): string =>
  stateFolder(stateDirectory).environment(name).databaseDirectory;

/** The PostgreSQL of a local environment, for tests that disturb it: its main process, and a superuser's connection. */
export async function openLocalDatabase(stateDirectory: string, environment: string) {
  const cluster = clusterIn(databaseDirectory(stateDirectory, environment));
  const [pid, , , port] = readFileSync(join(cluster.data, 'postmaster.pid'), 'utf8').split('\n');
  const client = new Client({
    host: '127.0.0.1',
    port: Number(port),
    user: 'postgres',
    password: await readPassword(cluster),
    database: 'wallet',
  });
  client.on('error', () => undefined);
  await client.connect();
  return { pid: Number(pid), client, close: () => client.end() };
}
