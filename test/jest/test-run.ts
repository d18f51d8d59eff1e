import { AsyncLocalStorage } from 'node:async_hooks';
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import fs, { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openCluster } from '../../local/postgres/cluster';
import { commandLine, isAlive } from '../../local/shared/processes';
import { eventually } from '../support/eventually';
import { hostileToPostgres } from '../support/hostile-variables';
import { type HttpServer, startHttpServer } from '../support/http-server';
import type { SharedInRun } from '../support/once-per-run';
import { startPostgres } from '../support/postgres';
import { synthesizeAssembly } from '../support/prepared-state';

/** Memory on Linux: saves a fifth of the CPU time of tests with a PostgreSQL, each of which has a thousand files. */
const memory = '/dev/shm';
/** Bytes: the suite uses less than one gigabyte. */
const enough = 4 * 1024 ** 3;
const temporary = tmpdir();

type Shareable = Readonly<{ directory?: string; stop?(): Promise<void> }>;

/** What test files share in a run, created when the first of them needs it. It belongs to the main process, which outlives workers. */
const create: Record<SharedInRun, (folder: string) => Promise<Shareable>> = {
  assembly: synthesizeAssembly,
  cluster: async (made) => ({ directory: (await openCluster(join(made, 'postgres'))).folder }),
  environments: startEnvironments,
  postgres: () => startPostgres(),
};

let folder: string;
let server: HttpServer;
/** Tells one-realm.js what it starts. */
const sharing = new AsyncLocalStorage<true>();
const created = new Map<string, Promise<Shareable>>();

/** Creates the folder of all temporary files of the run, and serves what test files share. */
export default async function setUp(): Promise<void> {
  folder = inMemoryFolder() ?? mkdtempSync(join(temporary, 'wallet-test-run-'));
  // PostgreSQL and others run under their own accounts.
  fs.chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  server = await startHttpServer(async ({ url = '' }, response) => {
    try {
      const name = url.slice(1) as SharedInRun;
      const creating = created.get(name) ?? sharing.run(true, () => create[name](folder));
      created.set(name, creating);
      response.end(JSON.stringify(await creating));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  process.env.SHARED_IN_RUN_URL = server.url;
  Object.assign(globalThis, { sharing });
}

export async function tearDown(): Promise<void> {
  await server.stop();
  await Promise.allSettled(Array.from(created.values(), async (creating) => (await creating).stop?.()));
  const left = await leftRunning();
  rmSync(folder, { recursive: true, force: true });
  if (left.length > 0) throw new Error(`Tests left running: ${left.join('; ')}`);
}

/** The processes that still work in the run's folder after 20 s, on Linux: databases and functions that outlived their parents. */
async function leftRunning(): Promise<readonly string[]> {
  const list = () =>
    readdirSync('/proc').filter((name) => {
      try {
        return fs.readlinkSync(`/proc/${name}/cwd`).startsWith(folder);
      } catch {
        return false;
      }
    });
  if (process.platform !== 'linux') return [];
  await eventually(() => list().length === 0, 20).catch(() => undefined);
  return list().map((pid) => commandLine(Number(pid)).replaceAll('\0', ' '));
}

async function startEnvironments() {
  const child = fork(join(__dirname, '../support/own-environments.ts'), {
    execArgv: ['--require', require.resolve('../../bin/tsx.cjs')],
    env: { ...process.env, ...hostileToPostgres },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  const [shared] = await Promise.race([once(child, 'message'), exited]);
  if (!shared?.directory) throw new Error('The local environments did not start.');
  child.unref();
  child.channel?.unref();
  async function stop() {
    child.ref();
    if (child.connected) child.disconnect();
    await exited;
  }
  return { ...shared, stop };
}

function inMemoryFolder(): string | undefined {
  try {
    // Folders of killed runs would occupy memory.
    for (const name of readdirSync(memory)) {
      const [, pid] = /^wallet-test-run-(\d+)-/.exec(name) ?? [];
      if (pid && !isAlive(Number(pid))) rmSync(join(memory, name), { recursive: true, force: true });
    }
    const { bavail, bsize } = fs.statfsSync(memory);
    if (bavail * bsize < enough) return undefined;
    const made = mkdtempSync(join(memory, `wallet-test-run-${process.pid}-`));
    // Containers often mount it so that it runs no programs.
    const program = join(made, 'program');
    fs.writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
    execFileSync(program);
    return made;
  } catch {
    return undefined;
  }
}
