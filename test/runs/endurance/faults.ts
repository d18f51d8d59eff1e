import { appendFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { commandLine } from '../../../local/processes';
import { childrenOf } from '../../support/local-command';
import { databaseDirectory, openLocalDatabase } from '../../support/local-database';
import type { TemporaryEnvironments } from '../environments';
import { oneOf } from '../long-run';
import type { Webhooks } from './webhooks';

export interface FaultContext extends TemporaryEnvironments {
  /** The environment of a fault that reaches one. */
  readonly environment: string;
  readonly webhooks: readonly Webhooks[];
  /** Separate for each fault, so that a seed always results in the same faults. */
  readonly random: () => number;
}

export interface Fault {
  readonly name: string;
  /** In one environment, without effect on the others, or in all, for a shared service. */
  readonly reach: 'one' | 'all';
  /** Whether deletions may be refused meanwhile. */
  readonly affectsDeletions: boolean;
  /** Whether a message may be lost to a killed reader until its visibility timeout. @default false */
  readonly losesReaders?: boolean;
  /** Milliseconds, from and to. */
  readonly lasts: readonly [number, number];
  /** @returns a function that ends it */
  begin(context: FaultContext): Promise<() => Promise<unknown>>;
}

const ofOneDatabase = { reach: 'one', affectsDeletions: true } as const;

export const faults: readonly Fault[] = [
  {
    // The main process, with or without the others. `restarting.ts` starts it again.
    name: 'database-killed',
    ...ofOneDatabase,
    lasts: [0, 1_000],
    async begin(context) {
      const { pid, close } = await openDatabase(context);
      const others = context.random() < 0.5 ? childrenOf(pid) : [];
      for (const each of [pid, ...others]) signalProcess(each, 'SIGKILL');
      await close();
      return async () => undefined;
    },
  },
  {
    // All of its processes, as on a machine that stalls.
    name: 'database-frozen',
    ...ofOneDatabase,
    lasts: [2_000, 12_000],
    async begin(context) {
      const { pid, close } = await openDatabase(context);
      await close();
      const all = [pid, ...childrenOf(pid)];
      for (const each of all) signalProcess(each, 'SIGSTOP');
      return async () => all.forEach((each) => void signalProcess(each, 'SIGCONT'));
    },
  },
  {
    name: 'tables-locked',
    ...ofOneDatabase,
    lasts: [2_000, 12_000],
    async begin(context) {
      const { client, close } = await openDatabase(context);
      await client.query('begin; lock table user_groups, webhooks in access exclusive mode');
      return async () => {
        await client.query('rollback');
        await close();
      };
    },
  },
  {
    name: 'connections-exhausted',
    ...ofOneDatabase,
    lasts: [2_000, 6_000],
    async begin(context) {
      const { client, close } = await openDatabase(context);
      const taken: Client[] = [];
      const takeAll = async () => {
        while (await connect(client).then((another) => taken.push(another), isRefused));
      };
      await takeAll();
      // Functions reconnect in the meantime.
      for (let ended = 1; ended > 0; await takeAll()) ended = await endOthers(client);
      return () => Promise.all([close(), ...taken.map((each) => each.end())]);
    },
  },
  {
    // PostgreSQL exits when it cannot write its log, and cannot start until there is space again.
    name: 'disk-full',
    ...ofOneDatabase,
    lasts: [2_000, 6_000],
    async begin(context) {
      const file = join(databaseDirectory(context.local.stateDirectory, context.environment), 'filler');
      const { client, close } = await openDatabase(context);
      await fill(file);
      try {
        for (let segment = 0; segment < 20; segment += 1)
          await client.query(`select pg_switch_wal() from pg_logical_emit_message(false, 'faults', 'x')`);
      } catch {
        // It noticed that its disk is full.
      }
      await close().catch(() => undefined);
      return () => rm(file);
    },
  },
  {
    // Every 300 ms half of the functions' processes, idle or busy.
    name: 'functions-killed',
    reach: 'all',
    affectsDeletions: true,
    losesReaders: true,
    lasts: [2_000, 5_000],
    async begin({ command, random }) {
      const timer = setInterval(() => {
        const functions = command
          .processes()
          .filter((pid) => commandLine(pid).includes('local/lambda/bootstrap.cjs'));
        for (const pid of functions) if (random() < 0.5) signalProcess(pid, 'SIGKILL');
      }, 300);
      return async () => clearInterval(timer);
    },
  },
  {
    // The emulator keeps messages in memory: its restart would lose them, as SQS never does. So connections are reset.
    name: 'queues-reset',
    reach: 'all',
    affectsDeletions: false,
    losesReaders: true,
    lasts: [2_000, 6_000],
    begin: (context) => writeOrder(context, 'queue-resets', new URL(context.local.endpoints.sqs ?? '').port),
  },
  {
    name: 'receivers-failing',
    reach: 'all',
    affectsDeletions: false,
    lasts: [3_000, 8_000],
    async begin({ webhooks }) {
      for (const each of webhooks) each.failing = true;
      return async () => {
        for (const each of webhooks) each.failing = false;
      };
    },
  },
  {
    // Every function's clock, by minutes: no delivery's 72 hours of retries can pass.
    name: 'clock-stepped',
    reach: 'all',
    affectsDeletions: true,
    lasts: [2_000, 6_000],
    begin: (context) => writeOrder(context, 'clock', String(oneOf(context.random, [-120, -30, 30, 120]))),
  },
];

const openDatabase = ({ local, environment }: FaultContext) =>
  openLocalDatabase(local.stateDirectory, environment);

/** Injects a fault through the preloaded script. @returns a function that ends it */
async function writeOrder({ control }: FaultContext, name: string, content: string) {
  const file = join(control, name);
  await writeFile(file, content);
  return () => rm(file);
}

/** As `process.kill`, but ignores a process that has exited. */
function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function connect({ host, port, user, password, database }: Client): Promise<Client> {
  const another = new Client({ host, port, user, password, database });
  another.on('error', () => undefined);
  await another.connect();
  return another;
}

const isRefused = (error: { readonly code?: string }): false => {
  if (error.code !== '53300') throw error;
  return false;
};

/** Closes all connections except the superuser's. @returns their number */
async function endOthers(client: Client): Promise<number> {
  const { rowCount } = await client.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and usename <> user",
  );
  return rowCount ?? 0;
}

async function fill(file: string): Promise<void> {
  const mebibyte = Buffer.alloc(2 ** 20);
  try {
    for (;;) await appendFile(file, mebibyte);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
