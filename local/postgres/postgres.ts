import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, readlinkSync, realpathSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { tryLockFile } from '../shared/file-lock';
import { commandLine } from '../shared/processes';
import { type Cluster, clusterIn, openCluster, pathForPostgres, readPassword, superuser } from './cluster';
import { type Account, chownTo, postgresEnvironment, postgresPrograms } from './programs';

export interface PostgresOptions {
  /** The data folder, created on first use. */
  readonly directory: string;
  /** Called with each line that PostgreSQL logs. @default - ignored */
  readonly onLog?: (line: string) => void;
  /** Called with the signal or exit code if it exits without `stop`. */
  readonly onUnexpectedEnd?: (how: string) => void;
  /**
   * Whether commits survive a power failure, not only a crash of PostgreSQL; false is faster, for tests.
   * @default true
   */
  readonly durable?: boolean;
  /** PEM, for `localhost`. @default - no TLS */
  readonly certificate?: { readonly key: string; readonly cert: string };
  /** Aborts the start. */
  readonly signal?: AbortSignal;
}

/**
 * Members of `rds_iam` sign in over TLS, with any token: PostgreSQL cannot check one, and any program on this machine has an
 * administrator's access keys anyway. The master user, who may grant the role, is a member too and has a password, as at Aurora.
 * https://www.postgresql.org/docs/17/auth-pg-hba-conf.html
 */
const signIn = `
local all all trust
hostssl all +rds_superuser all scram-sha-256
hostssl all +rds_iam all trust
host all all all scram-sha-256
`;

/**
 * What `pg` would otherwise read from variables: https://node-postgres.com/features/connecting#environment-variables
 * None is empty, or it would read it anyway.
 */
export const clientSettings = {
  ssl: false,
  sslnegotiation: 'postgres',
  application_name: 'local',
  options: '-c client_min_messages=notice',
  replication: 'false',
} as const;

/** A running PostgreSQL 17. */
export type Postgres = Awaited<ReturnType<typeof startPostgres>>;

/** What to do about a log, the first that fits. PostgreSQL itself explains a lack of System V shared memory. */
const advices: readonly (readonly [RegExp, string])[] = [
  [/could not create shared memory segment/, 'No commit is lost.'],
  [/No space left on device/, 'Free some disk space and start again: no commit is lost.'],
  [/lock file "postmaster.pid" already exists/, 'If no other start uses this folder, delete this file.'],
  [/./s, 'If its data is damaged, delete it with --fresh.'],
];

/** The error when PostgreSQL exits before it accepts connections, or its data is missing. */
export function didNotStart(data: string, log: string): Error {
  const [, advice] = advices.find(([pattern]) => pattern.test(log)) ?? [];
  return new Error(`PostgreSQL did not start in ${data}:\n${log}\n${advice}`);
}

/** Another program took the free port, or connections of a crashed server are still open. */
const transient = /Address already in use|pre-existing shared memory block/;

/**
 * Starts a real PostgreSQL 17 on 127.0.0.1, as this user or, for root, as `nobody`. It exits with this process, even after
 * SIGKILL; `stop` shuts it down cleanly.
 *
 * @throws Error with the remedy: damaged data, no binaries for this machine, or no access to the data folder
 */
export async function startPostgres(options: PostgresOptions) {
  const directory = resolve(options.directory);
  const { account, postgres } = await postgresPrograms();
  const { signal } = options;
  const cluster = await openCluster(directory, signal);
  const { data } = cluster;
  const password = await readPassword(cluster).catch((error: Error) => {
    throw didNotStart(data, error.message);
  });
  const lock = await waitForPreviousServer(cluster, signal);
  const { key, cert } = options.certificate ?? {};
  if (key && cert) {
    // By PostgreSQL's own names.
    const files = { 'server.key': key, 'server.crt': cert, 'pg_hba.conf': signIn };
    for (const [name, content] of Object.entries(files)) await writeAs(account, join(data, name), content);
  }
  // Not in the data folder: a socket's path has at most 103 bytes (macOS). Source: sun_path in unix(7).
  const socketDirectory = await mkdtemp('/tmp/wallet-pg-').catch(() => mkdtemp('/dev/shm/wallet-pg-'));
  const removeSockets = () => rm(socketDirectory, { recursive: true, force: true });

  let isStopping = false;

  function spawnServer(port: number): ChildProcess {
    const settings = {
      listen_addresses: '127.0.0.1',
      port,
      ssl: key && cert ? 'on' : 'off',
      unix_socket_directories: socketDirectory,
      unix_socket_permissions: '0700',
      max_connections: 300,
      // Avoids the launcher process, which nothing needs.
      max_logical_replication_workers: 0,
      // In the data folder: after SIGKILL, shared memory would leak.
      dynamic_shared_memory_type: 'mmap',
      fsync: options.durable === false ? 'off' : 'on',
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    // Its own session: Ctrl-C reaches only this process, which then stops PostgreSQL.
    const session = { ...account, env: postgresEnvironment, detached: true };
    const child = spawn(postgres, ['-D', pathForPostgres(account, data), ...args], {
      ...session,
      cwd: data,
      // All its processes inherit the lock, and hold it until the last one ends.
      stdio: ['ignore', 'ignore', 'pipe', ...(lock === undefined ? [] : [lock])],
    });
    const watcher = spawn('/bin/sh', ['-c', watcherScript, 'watcher', String(child.pid), socketDirectory], {
      ...session,
      cwd: '/',
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    for (const event of ['exit', 'error']) child.once(event, () => watcher.kill('SIGKILL'));
    // Lets a process exit without stopping PostgreSQL; the watcher then stops it.
    for (const handle of [watcher, watcher.stdin as Socket]) handle.unref();
    return child;
  }

  async function start() {
    for (let attempt = 1; ; attempt += 1) {
      const port = await freePort();
      const child = spawnServer(port);
      const abort = () => void stopServer(child);
      signal?.addEventListener('abort', abort);
      const failure = await startFailure(child, options.onLog);
      signal?.removeEventListener('abort', abort);
      if (failure === undefined) {
        for (const handle of [child, child.stderr as Socket]) handle.unref();
        child.once('exit', (code, signal) => {
          if (!isStopping) options.onUnexpectedEnd?.(signal ?? `exit code ${code}`);
        });
        return { child, port };
      }
      if (!transient.test(failure) || attempt === 50) throw didNotStart(data, failure);
      await sleep(100, undefined, signal && { signal });
    }
  }

  const { child, port } = await chownTo(account, socketDirectory)
    .then(start)
    .catch(async (error) => {
      await removeSockets();
      throw error;
    })
    .finally(() => lock !== undefined && closeSync(lock));

  return {
    host: '127.0.0.1',
    /** A free port. TCP connections require a password (SCRAM-SHA-256), except of members of `rds_iam` over TLS. */
    port,
    superuser,
    password,
    /** Accepts every role without a password, but only PostgreSQL's account and root can open the socket. */
    socketDirectory,
    directory,
    /** The postmaster's process id. */
    pid: child.pid as number,
    /** Fast shutdown: closes connections and rolls back their transactions. Idempotent. */
    async stop(): Promise<void> {
      isStopping = true;
      await stopServer(child);
      await removeSockets();
    },
  };
}

async function writeAs(account: Account, path: string, content: string): Promise<void> {
  await rm(path, { force: true });
  await writeFile(path, content, { mode: 0o600 });
  await chownTo(account, path);
}

/** Deletes a PostgreSQL and its data. */
export async function removePostgres(directory: string, signal?: AbortSignal): Promise<void> {
  const cluster = clusterIn(resolve(directory));
  const lock = existsSync(cluster.folder) ? await waitForPreviousServer(cluster, signal) : undefined;
  await rm(directory, { recursive: true, force: true });
  if (lock !== undefined) closeSync(lock);
}

/**
 * Waits until the watcher has stopped a dead process's server. Then removes the lock that a dead server left: its process id may
 * now be another program's (after a power failure, or in a new container).
 *
 * @returns a descriptor that locks the cluster, for the next server; undefined where files cannot be locked
 * @throws Error if a server still runs
 */
async function waitForPreviousServer(
  { folder, data }: Cluster,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const pidFile = join(data, 'postmaster.pid');
  const pid = Number.parseInt(await readFile(pidFile, 'utf8').catch(() => ''), 10);
  let lock = tryLockFile(join(folder, 'lock'));
  const isRunning = () => lock === 'held' || (pid > 0 && isServerOf(data, pid));
  for (let waited = 0; waited < 16_000 && isRunning(); waited += 50) {
    await sleep(50, undefined, signal && { signal });
    if (lock === 'held') lock = tryLockFile(join(folder, 'lock'));
  }
  if (lock === 'held' || isRunning()) {
    if (typeof lock === 'number') closeSync(lock);
    throw new Error(
      `PostgreSQL still runs in ${data}, left by another start: ${pid ? `process ${pid}, ` : ''}maybe in another container. Stop it: kill -INT`,
    );
  }
  if (lock === 'unsupported') return undefined;
  await rm(pidFile, { force: true });
  return lock;
}

/** Linux shows a process's folder; elsewhere, the arguments contain it. */
function isServerOf(data: string, pid: number): boolean {
  if (process.platform !== 'linux') return commandLine(pid).includes(data);
  try {
    return commandLine(pid).includes('postgres') && readlinkSync(`/proc/${pid}/cwd`) === realpathSync(data);
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}

/** Waits until it accepts connections, without a deadline: crash recovery may take long. @returns its log if it exits */
function startFailure(child: ChildProcess, onLog?: (line: string) => void): Promise<string | undefined> {
  const lines: string[] = [];
  return new Promise((resolve) => {
    createInterface(child.stderr as Socket).on('line', (line) => {
      onLog?.(line);
      lines.push(line);
      // An error shows only the last lines.
      lines.splice(0, lines.length - 20);
      if (line.includes('database system is ready to accept connections')) resolve(undefined);
    });
    const fail = (reason: string) => resolve([...lines, reason].join('\n'));
    child.once('error', ({ message }) => fail(message));
    child.once('close', (code, signal) => fail(`It exited with ${signal ?? `exit code ${code}`}.`));
  });
}

/** A shell that waits for EOF on stdin, which it gets when this process exits, even by SIGKILL. */
const watcherScript = `
read -r _
kill -INT "$1"
tenths=0
while kill -0 "$1" 2>/dev/null && [ $tenths -lt 100 ]; do
  tenths=$((tenths + 1))
  sleep 0.1
done
kill -QUIT "$1" 2>/dev/null
rm -rf "$2"
`;

async function stopServer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  // No commit is lost. `tsx watch` kills this process after five seconds.
  const deadline = setTimeout(() => child.kill('SIGQUIT'), 3_000);
  child.kill('SIGINT');
  child.ref();
  await once(child, 'exit');
  clearTimeout(deadline);
}
