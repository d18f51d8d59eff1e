import { execFileSync, spawn, spawnSync } from 'node:child_process';
import fs, { existsSync, mkdtempSync } from 'node:fs';
import promises, { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type ClientConfig } from 'pg';
import { didNotStart, removePostgres, startPostgres } from '../../../local/postgres/postgres';
import type * as programs from '../../../local/postgres/programs';
import { installedPackage, postgresPrograms, requireCapabilities } from '../../../local/postgres/programs';
import { isAlive } from '../../../local/shared/processes';
import { projectRoot } from '../../architecture/sources';
import { eventually } from '../../support/eventually';
import { copyNewCluster } from '../../support/postgres';
import { temporaryFolder } from '../../support/temporary-folder';

/** Holds a cluster that the tests of this file share. */
const used = mkdtempSync(join(tmpdir(), 'wallet-test-'));
const running: { stop(): Promise<void> }[] = [];
beforeAll(() => copyNewCluster(used));
afterEach(() => Promise.all(running.splice(0).map((postgres) => postgres.stop())));
/** Empty. For root: PostgreSQL's account cannot enter it. */
const folder = temporaryFolder();

async function start(options: Partial<Parameters<typeof startPostgres>[0]> = {}) {
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
  const directory = join(folder(), 'state');
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
  process.kill(killed.pid, 'SIGKILL');
  await eventually(() => ends.length > 0);
  await killed.stop();
  const next = await start({ onUnexpectedEnd });
  for (const host of ['127.0.0.1', next.socketDirectory])
    expect(await query({ ...next, host }, 'table commits')).toEqual([{ answer: 42 }]);
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
  const { stdout } = spawnSync(drop[0], args, { cwd: projectRoot, encoding: 'utf8' });
  expect(stdout).toMatch(explained);
});

it('runs from a copy of a package that it cannot use', async () => {
  const isRoot = process.getuid?.() === 0;
  // Root's PostgreSQL may not enter it; an ordinary user may not link its libraries.
  if (isRoot) jest.spyOn(fs, 'statSync').mockReturnValueOnce({ mode: 0o700 } as never);
  else jest.spyOn(promises, 'symlink').mockRejectedValueOnce(new Error('EACCES'));
  process.env.HOME = folder();
  const cache = join(isRoot ? '/var/cache' : join(folder(), '.cache'), 'wallet-infrastructure');
  const wasThere = existsSync(cache);
  jest.resetModules();
  const again: typeof programs = require('../../../local/postgres/programs');
  const { initdb, account } = await again.postgresPrograms();
  expect(initdb.startsWith(cache)).toBe(true);
  expect(execFileSync(initdb, ['--version'], { ...account, cwd: '/', encoding: 'utf8' })).toContain(' 17.');
  if (!wasThere) await rm(cache, { recursive: true });
});
