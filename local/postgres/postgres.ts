import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Account, chownTo, postgresAccount } from './account';
import { postgresBinaries } from './binaries';
import { findCluster, openCluster, readPassword, superuser } from './cluster';
import { clearOrphanedServer, recordOwner } from './orphaned-server';
import {
  killPostmaster,
  PostgresDidNotStart,
  type Postmaster,
  startPostmaster,
  stopPostmaster,
} from './process';

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

/**
 * Starts a real PostgreSQL 17 on 127.0.0.1, as an ordinary user or as root (then it runs as `nobody`). It ends with
 * this process, however that ends; `stop` shuts it down properly.
 *
 * @throws Error that says what to do: no binaries for this machine, data in use by another process, no place for data.
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const directory = resolve(options.directory);
  const account = postgresAccount();
  const binaries = await postgresBinaries(account);
  const cluster = await openCluster(directory, account, binaries);
  await clearOrphanedServer(cluster);
  const socketDirectory = await makeSocketDirectory(account);
  const start = (port: number): Promise<Postmaster> => {
    const { durable = true, onLog = () => undefined } = options;
    const settings = { account, data: cluster.data, port, socketDirectory, durable, onLog };
    // After a crash, PostgreSQL refuses to start until its last connections have ended.
    return retryWhile('pre-existing shared memory block', 50, () =>
      startPostmaster({ program: binaries.postgres, ...settings }),
    );
  };
  await recordOwner(cluster, socketDirectory);
  // Another program may take the free port before PostgreSQL does.
  const { port, postmaster } = await retryWhile('Address already in use', 5, async () => {
    const free = await freePort();
    return { port: free, postmaster: await start(free) };
  }).catch(async (error) => {
    await rm(socketDirectory, { recursive: true, force: true });
    throw error;
  });
  /** Whether it is ended on purpose. */
  let ending = false;
  let current = watch(postmaster);

  function watch(started: Postmaster): Postmaster {
    ending = false;
    started.child.once('exit', (code, signal) => {
      if (!ending) options.onUnexpectedEnd?.(signal ?? `exit code ${code}`);
    });
    return started;
  }

  return {
    host: '127.0.0.1',
    port,
    superuser,
    password: await readPassword(cluster),
    socketDirectory,
    directory,
    get pid() {
      return current.pid;
    },
    async stop() {
      ending = true;
      await stopPostmaster(current);
      await rm(socketDirectory, { recursive: true, force: true });
    },
    async kill() {
      ending = true;
      await killPostmaster(current);
    },
    async restart() {
      ending = true;
      await stopPostmaster(current);
      current = watch(await start(port));
    },
  };
}

/**
 * Removes a stopped PostgreSQL with all of its data; one left running by a process that is gone is stopped first.
 *
 * @throws Error when it is running for a process that is alive.
 */
export async function removePostgres(directory: string): Promise<void> {
  const cluster = await findCluster(resolve(directory));
  if (cluster) await clearOrphanedServer(cluster);
  await rm(directory, { recursive: true, force: true });
}

/**
 * Unix sockets have a path of at most 107 bytes (103 on macOS), so they have their own folder with a short name.
 * Source: sun_path in unix(7), https://man7.org/linux/man-pages/man7/unix.7.html
 */
async function makeSocketDirectory(account: Account): Promise<string> {
  const parent = account.uid === undefined && Buffer.byteLength(tmpdir()) < 60 ? tmpdir() : '/tmp';
  const folder = await mkdtemp(join(parent, 'wallet-pg-'));
  await chownTo(account, folder);
  return folder;
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

/** Repeats `start` after 100 ms while PostgreSQL's log gives `reason` for its failure. */
async function retryWhile<T>(reason: string, attempts: number, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    const again = error instanceof PostgresDidNotStart && error.log.includes(reason);
    if (!again || attempts === 1) throw error;
    await sleep(100);
    return retryWhile(reason, attempts - 1, start);
  }
}
