import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Account, giveTo, postgresAccount } from './account';
import { postgresBinaries } from './binaries';
import { type Cluster, findCluster, openCluster, readPassword, superuser } from './cluster';
import { clearOrphanedServer, recordOwner } from './orphaned-server';
import {
  killPostmaster,
  PostgresDidNotStart,
  type Postmaster,
  type PostmasterOptions,
  startPostmaster,
  stopPostmaster,
} from './process';
import { supervise } from './supervisor';

export interface PostgresOptions {
  /** Where its data are kept between runs. Made when it is not there. */
  readonly directory: string;
  /** Called with each line that PostgreSQL logs. @default - lines are dropped */
  readonly onLog?: (line: string) => void;
  /**
   * Starts it again when it ends though neither `stop` nor `kill` was called, and is told so in lines for a person.
   * @default - it stays ended
   */
  readonly onUnexpectedEnd?: (line: string) => void;
  /**
   * Whether what is committed outlives a loss of power too, and not only a crash of PostgreSQL; false is faster, for
   * tests. @default true
   */
  readonly durable?: boolean;
}

/** A running PostgreSQL 17. */
export interface Postgres {
  readonly host: '127.0.0.1';
  /** A free one, chosen anew by every `startPostgres`. TCP asks for a password (SCRAM-SHA-256). */
  readonly port: number;
  readonly superuser: string;
  readonly password: string;
  /** Open to the account of PostgreSQL (and root) only: here every role signs in without a password. */
  readonly socketDirectory: string;
  readonly directory: string;
  /** The process id of the postmaster; another after each start. */
  readonly pid: number;
  /** Ends it in an orderly way: connections are closed, their transactions rolled back. May be called twice. */
  stop(): Promise<void>;
  /** Ends all of its processes at once with SIGKILL, as a crash does. */
  kill(): Promise<void>;
  /** Starts it again, after `kill` or in an orderly way, with the same port and sockets. Not after `stop`. */
  restart(): Promise<void>;
}

/**
 * Starts a real PostgreSQL 17 on 127.0.0.1, as an ordinary user or as root (then it runs as `nobody`). It ends with
 * this process, however that ends; to end it in an orderly way, call `stop`.
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
  const start = (port: number): Promise<Postmaster> =>
    startOnceReleased({
      program: binaries.postgres,
      account,
      data: cluster.data,
      port,
      socketDirectory,
      durable: options.durable ?? true,
      onLog: options.onLog ?? (() => undefined),
    });
  await recordOwner(cluster, socketDirectory);
  const { postmaster, port } = await startOnFreePort(start).catch(async (error) => {
    await rm(socketDirectory, { recursive: true, force: true });
    throw error;
  });
  return handle({ ...options, directory, cluster, socketDirectory, port, start, postmaster });
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

interface Started extends PostgresOptions {
  readonly cluster: Cluster;
  readonly socketDirectory: string;
  readonly port: number;
  readonly postmaster: Postmaster;
  start(port: number): Promise<Postmaster>;
}

async function handle({
  directory,
  cluster,
  socketDirectory,
  port,
  start,
  postmaster,
  onUnexpectedEnd,
}: Started): Promise<Postgres> {
  const supervisor = supervise(postmaster, { start: () => start(port), onLine: onUnexpectedEnd });
  return {
    host: '127.0.0.1',
    port,
    superuser,
    password: await readPassword(cluster),
    socketDirectory,
    directory,
    get pid() {
      return supervisor.current.pid;
    },
    async stop() {
      await supervisor.suspend();
      await stopPostmaster(supervisor.current);
      await rm(socketDirectory, { recursive: true, force: true });
    },
    async kill() {
      await supervisor.suspend();
      await killPostmaster(supervisor.current);
    },
    async restart() {
      await supervisor.suspend();
      await stopPostmaster(supervisor.current);
      supervisor.resume(await start(port));
    },
  };
}

/**
 * Unix sockets have a path of at most 107 bytes (103 on macOS), so they have a folder of their own, with a short name.
 * Source: sun_path in unix(7), https://man7.org/linux/man-pages/man7/unix.7.html
 */
async function makeSocketDirectory(account: Account): Promise<string> {
  const parent = account.uid === undefined && Buffer.byteLength(tmpdir()) < 60 ? tmpdir() : '/tmp';
  const folder = await mkdtemp(join(parent, 'wallet-pg-'));
  await giveTo(account, folder);
  return folder;
}

/** Tries other ports when somebody takes the chosen one in the moment before PostgreSQL does. */
async function startOnFreePort(
  start: (port: number) => Promise<Postmaster>,
  attempts = 5,
): Promise<{ postmaster: Postmaster; port: number }> {
  const port = await freePort();
  try {
    return { postmaster: await start(port), port };
  } catch (error) {
    const taken = error instanceof PostgresDidNotStart && error.log.includes('Address already in use');
    if (!taken || attempts === 1) throw error;
    return startOnFreePort(start, attempts - 1);
  }
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

/** After a crash, connections of before may need a moment to end; until then PostgreSQL refuses to start. */
async function startOnceReleased(options: PostmasterOptions, attempts = 50): Promise<Postmaster> {
  try {
    return await startPostmaster(options);
  } catch (error) {
    const held =
      error instanceof PostgresDidNotStart && error.log.includes('pre-existing shared memory block');
    if (!held || attempts === 1) throw error;
    await sleep(100);
    return startOnceReleased(options, attempts - 1);
  }
}
