import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { childrenOf } from '../processes';
import { type Account, postgresEnvironment } from './account';
import { pathForPostgres } from './cluster';

export interface PostmasterOptions {
  readonly program: string;
  readonly account: Account;
  readonly data: string;
  readonly port: number;
  readonly socketDirectory: string;
  readonly durable: boolean;
  readonly onLog: (line: string) => void;
}

/** A PostgreSQL that accepts connections. */
export interface Postmaster {
  readonly pid: number;
  readonly child: ChildProcess;
}

/** PostgreSQL ended before it accepted connections. */
export class PostgresDidNotStart extends Error {
  override readonly name = 'PostgresDidNotStart';
  constructor(
    readonly data: string,
    readonly log: string,
    how: string,
  ) {
    super(`PostgreSQL did not start on ${data}: ${how}.\n${log}`);
  }
}

const startTimeout = 60_000;

/**
 * Starts PostgreSQL and waits until it accepts connections. It has its own session, so that Ctrl-C in a terminal reaches
 * only this process, which then stops it. If this process ends without doing so, a watcher stops it.
 *
 * @throws PostgresDidNotStart with what PostgreSQL wrote, also after 60 seconds.
 */
export async function startPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const child = spawn(options.program, postmasterArguments(options), {
    ...options.account,
    cwd: options.data,
    env: postgresEnvironment,
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const failed = new Promise<Error>((resolve) => child.once('error', resolve));
  if (child.pid === undefined) throw await failed;
  const watcher = watch(child.pid, options);
  child.once('exit', () => watcher.kill('SIGKILL'));
  await accepting(child, options);
  // A process that forgets to stop PostgreSQL must still be able to exit; then the watcher acts.
  child.unref();
  (child.stderr as Socket).unref();
  return { pid: child.pid, child };
}

function postmasterArguments(options: PostmasterOptions): string[] {
  const { account, data, port, socketDirectory, durable } = options;
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: socketDirectory,
    unix_socket_permissions: '0700',
    max_connections: 300,
    // In its data, not in the machine's memory, where a killed one would leave it.
    dynamic_shared_memory_type: 'mmap',
    ...(durable ? {} : { fsync: 'off' }),
  };
  return [
    '-D',
    pathForPostgres(account, data),
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
}

function accepting(child: ChildProcess, { data, onLog }: PostmasterOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const lastLines: string[] = [];
    const fail = (how: string): void => reject(new PostgresDidNotStart(data, lastLines.join('\n'), how));
    const timer = setTimeout(() => {
      fail(`it was not ready after ${startTimeout / 1000} s`);
      child.kill('SIGKILL');
    }, startTimeout);
    if (!child.stderr) throw new Error('stderr is a pipe');
    createInterface(child.stderr).on('line', (line) => {
      onLog(line);
      lastLines.push(line);
      if (lastLines.length > 20) lastLines.shift();
      if (line.includes('database system is ready to accept connections')) {
        clearTimeout(timer);
        resolve();
      }
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      fail(signal ? `it was ended by ${signal}` : `it ended with exit code ${code}`);
    });
  });
}

/**
 * A shell that waits for the end of its input, which comes when this process ends, even by SIGKILL; then stops PostgreSQL
 * (at once if it takes more than 10 s) and removes its sockets.
 */
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

function watch(pid: number, { account, socketDirectory }: PostmasterOptions): ChildProcess {
  const watcher = spawn('/bin/sh', ['-c', watcherScript, 'watcher', String(pid), socketDirectory], {
    ...account,
    cwd: '/',
    env: postgresEnvironment,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.unref();
  (watcher.stdin as Socket).unref();
  return watcher;
}

/** A fast shutdown: closes connections and rolls their transactions back. */
export async function stopPostmaster({ child }: Postmaster): Promise<void> {
  if (hasEnded(child)) return;
  const escalation = [
    setTimeout(() => child.kill('SIGQUIT'), 10_000),
    setTimeout(() => child.kill('SIGKILL'), 15_000),
  ];
  child.kill('SIGINT');
  await ended(child);
  for (const timer of escalation) clearTimeout(timer);
}

/** Ends PostgreSQL and all of its connections with SIGKILL. */
export async function killPostmaster({ child, pid }: Postmaster): Promise<void> {
  if (hasEnded(child)) return;
  killServer(pid);
  await ended(child);
}

/** Kills a postmaster, if it is there, with all of its processes: one that is left alone may wait for another for ever. */
export function killServer(pid: number): void {
  // Stopped first, so that it neither starts another process nor sees one end; and killed last, so that none sees it end.
  signalIfThere(pid, 'SIGSTOP');
  for (const each of [...childrenOf(pid), pid]) signalIfThere(each, 'SIGKILL');
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

async function ended(child: ChildProcess): Promise<void> {
  child.ref();
  if (!hasEnded(child)) await new Promise((resolve) => child.once('exit', resolve));
}

function signalIfThere(pid: number, signal: 'SIGSTOP' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
