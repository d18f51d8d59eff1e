import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startPostgres, type TestPostgres } from './postgres';

/** By path, such as `/direct`. */
const servers = new Map<string, Promise<TestPostgres>>();

const requests = createServer(async ({ url = '' }, response) => {
  try {
    const starting = servers.get(url) ?? startPostgres();
    servers.set(url, starting);
    response.end(JSON.stringify(await starting));
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});

/**
 * Lets the test files of a run share PostgreSQL servers, one for each path that they request from SHARED_POSTGRES_URL. The
 * servers belong to the main process of the run, which outlives its workers.
 */
export async function serveSharedPostgres(): Promise<void> {
  await once(requests.listen(0, '127.0.0.1').unref(), 'listening');
  process.env.SHARED_POSTGRES_URL = `http://127.0.0.1:${(requests.address() as AddressInfo).port}`;
}

export async function stopSharedPostgres(): Promise<void> {
  requests.close();
  const started = [...servers.values()];
  servers.clear();
  await Promise.allSettled(started.map(async (starting) => (await starting).stop()));
}

/** A server for the rest of the run. @param name distinguishes servers with different roles */
export async function sharedPostgres(name: string): Promise<TestPostgres> {
  const response = await fetch(`${process.env.SHARED_POSTGRES_URL}/${name}`);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as TestPostgres;
}
