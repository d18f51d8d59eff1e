import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, isAlive, isRunningIn } from '../processes';
import { type Cluster, clusterIn, openCluster, pathForPostgres, readPassword, superuser } from './cluster';
import { chownTo, type Programs, postgresEnvironment, postgresPrograms } from './programs';

export interface PostgresOptions {
  /** The folder of its data, made on first use. */
  readonly directory: string;
  /** Called with each line that PostgreSQL logs. @default - lines are dropped */
  readonly onLog?: (line: string) => void;
  /** Called with the signal or exit code when it ends without `stop`, `kill` or `restart`. */
  readonly onUnexpectedEnd?: (how: string) => void;
  /**
   * Whether commits survive a loss of power, and not only a crash of PostgreSQL; false is faster, for tests.
   * @default true
   */
  readonly durable?: boolean;
}

/** A running PostgreSQL 17. */
export interface Postgres {
  readonly host: '127.0.0.1';
  /** A free one, chosen by every `startPostgres`. TCP asks for a password (SCRAM-SHA-256). */
  readonly port: number;
  readonly superuser: string;
  readonly password: string;
  /** Open to the account of PostgreSQL (and root) only: here every role signs in without a password. */
  readonly socketDirectory: string;
  readonly directory: string;
  /** The process id of the postmaster; another after each start. */
  readonly pid: number;
  /** A fast shutdown: closes connections and rolls their transactions back. May be called twice. */
  stop(): Promise<void>;
  /** Ends all of its processes at once with SIGKILL, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again, after `kill` or in an orderly way, with the same port and sockets. Not after `stop`. */
  restart(): Promise<void>;
}

/** PostgreSQL ended before it accepted connections, or its data are not there. */
export class PostgresDidNotStart extends Error {
  override readonly name = 'PostgresDidNotStart';
  constructor(
    data: string,
    readonly log: string,
  ) {
    super(`PostgreSQL did not start on ${data}:\n${log}`);
  }
}

/** What passes: another program took the free port; the last connections of a crashed server have not ended yet. */
const passing = /Address already in use|pre-existing shared memory block/;

/**
 * Starts a real PostgreSQL 17 on 127.0.0.1, as an ordinary user or as root (then it runs as `nobody`). It ends with this
 * process, however that ends; `stop` shuts it down properly.
 *
 * @throws PostgresDidNotStart, also for damaged data
 * @throws Error that says what to do: no programs for this machine, no place for data
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const { onLog = () => undefined } = options;
  const directory = resolve(options.directory);
  const programs = await postgresPrograms();
  const cluster = await openCluster(directory);
  const password = await readPassword(cluster).catch((error: Error) => {
    throw new PostgresDidNotStart(cluster.data, error.message);
  });
  await awaitFormerServer(cluster);
  // Not below the data: a socket's path has at most 103 bytes (macOS). Source: sun_path in unix(7).
  const socketDirectory = await mkdtemp('/tmp/wallet-pg-');
  await chownTo(programs.account, socketDirectory);

  /** Whether it is ended on purpose. */
  let ending = false;
  async function start(port?: number): Promise<{ child: ChildProcess; port: number }> {
    for (let attempt = 1; ; attempt += 1) {
      const chosen = port ?? (await freePort());
      try {
        const child = await startServer(programs, cluster, {
          args: serverArguments(chosen),
          socketDirectory,
          onLog,
        });
        ending = false;
        child.once('exit', (code, signal) => {
          if (!ending) options.onUnexpectedEnd?.(signal ?? `exit code ${code}`);
        });
        return { child, port: chosen };
      } catch (error) {
        if (!(error instanceof PostgresDidNotStart && passing.test(error.log)) || attempt === 50) throw error;
        await sleep(100);
      }
    }
  }

  function serverArguments(port: number): string[] {
    const settings = {
      listen_addresses: '127.0.0.1',
      port,
      unix_socket_directories: socketDirectory,
      unix_socket_permissions: '0700',
      max_connections: 300,
      // In its data, not in the machine's memory, where a killed one would leave it.
      dynamic_shared_memory_type: 'mmap',
      fsync: options.durable === false ? 'off' : 'on',
    };
    const pairs = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    return ['-D', pathForPostgres(programs.account, cluster.data), ...pairs];
  }

  const { port, ...started } = await start().catch(async (error) => {
    await rm(socketDirectory, { recursive: true, force: true });
    throw error;
  });
  let { child } = started;

  return {
    host: '127.0.0.1',
    port,
    superuser,
    password,
    socketDirectory,
    directory,
    get pid() {
      return child.pid as number;
    },
    async stop() {
      ending = true;
      await stopServer(child);
      await rm(socketDirectory, { recursive: true, force: true });
    },
    async kill() {
      ending = true;
      killServer(child.pid as number);
      await ended(child);
    },
    async restart() {
      ending = true;
      await stopServer(child);
      ({ child } = await start(port));
    },
  };
}

/** Removes a PostgreSQL with all of its data. */
export async function removePostgres(directory: string): Promise<void> {
  await awaitFormerServer(clusterIn(resolve(directory)));
  await rm(directory, { recursive: true, force: true });
}

/**
 * Waits for the server of a process that ended, which is being stopped, and removes a lock whose process id is now that of
 * another program (after a loss of power, or in a new container). PostgreSQL itself refuses to start beside another.
 */
async function awaitFormerServer({ data }: Cluster): Promise<void> {
  const lock = join(data, 'postmaster.pid');
  const [pid] = (await readFile(lock, 'utf8').catch(() => '')).split('\n', 1).map(Number);
  if (!pid) return;
  const isRunning = () => isRunningIn(pid, 'postgres', data);
  for (let waited = 0; waited < 16_000 && isRunning(); waited += 50) await sleep(50);
  if (!isRunning() && isAlive(pid)) await rm(lock, { force: true });
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer();
    server.once('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });
}

interface ServerOptions {
  readonly args: readonly string[];
  readonly socketDirectory: string;
  readonly onLog: (line: string) => void;
}

const startTimeout = 60_000;

/**
 * Starts a server and waits until it accepts connections. It has its own session, so that Ctrl-C in a terminal reaches only
 * this process, which then stops it.
 */
async function startServer(
  { postgres, account }: Programs,
  { data }: Cluster,
  { args, socketDirectory, onLog }: ServerOptions,
): Promise<ChildProcess> {
  const options = { ...account, env: postgresEnvironment, detached: true } as const;
  const child = spawn(postgres, args, { ...options, cwd: data, stdio: ['ignore', 'ignore', 'pipe'] });
  await new Promise<void>((ready, fail) => {
    const lastLines: string[] = [];
    const failed = (how: string) => fail(new PostgresDidNotStart(data, [...lastLines, how].join('\n')));
    const timer = setTimeout(() => {
      failed(`It was not ready after ${startTimeout / 1000} s.`);
      child.kill('SIGKILL');
    }, startTimeout);
    createInterface(child.stderr).on('line', (line) => {
      onLog(line);
      lastLines.push(line);
      if (lastLines.length > 20) lastLines.shift();
      if (!line.includes('database system is ready to accept connections')) return;
      clearTimeout(timer);
      ready();
    });
    child.once('error', (error) => failed(error.message));
    child.once('close', (code, signal) => failed(`It ended with ${signal ?? `exit code ${code}`}.`));
    for (const event of ['error', 'close']) child.once(event, () => clearTimeout(timer));
  });
  // A shell that waits for the end of its input, which comes when this process ends, even by SIGKILL.
  const watcher = spawn('/bin/sh', ['-c', watcherScript, 'watcher', String(child.pid), socketDirectory], {
    ...options,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.once('exit', () => watcher.kill('SIGKILL'));
  // A process that forgets to stop PostgreSQL must still be able to exit; then the watcher acts.
  for (const handle of [child, child.stderr as Socket, watcher, watcher.stdin as Socket]) handle.unref();
  return child;
}

/** Stops PostgreSQL, at once if it takes more than 10 s, and removes its sockets. */
const watcherScript = `
read -r _
kill -INT "$1"
tenths=0
while kill -0 "$1" 2>/dev/null && [ $tenths -lt 150 ]; do
  [ $tenths -eq 100 ] && kill -QUIT "$1"
  tenths=$((tenths + 1))
  sleep 0.1
done
rm -rf "$2"
`;

/** A fast shutdown: closes connections and rolls their transactions back. */
async function stopServer(child: ChildProcess): Promise<void> {
  const escalation = [
    setTimeout(() => child.kill('SIGQUIT'), 10_000),
    setTimeout(() => child.kill('SIGKILL'), 15_000),
  ];
  child.kill('SIGINT');
  await ended(child);
  for (const timer of escalation) clearTimeout(timer);
}

/** Kills a postmaster, if it is there, with all of its processes: one that is left alone may wait for another for ever. */
export function killServer(pid: number): void {
  // Stopped first, so that it neither starts another process nor sees one end; and killed last, so that none sees it end.
  signalIfThere(pid, 'SIGSTOP');
  for (const each of [...childrenOf(pid), pid]) signalIfThere(each, 'SIGKILL');
}

async function ended(child: ChildProcess): Promise<void> {
  child.ref();
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise((resolve) => child.once('exit', resolve));
}

function signalIfThere(pid: number, signal: 'SIGSTOP' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
