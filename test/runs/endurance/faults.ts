import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { Client } from 'pg';
import type { Postgres } from '../../../local/postgres/postgres';
import { childrenOf } from '../../support/local-command';
import { oneOf } from '../long-run';
import type { Events } from './events';
import type { Functions } from './functions';

export interface FaultContext {
  /** Of one environment. */
  readonly postgres: Postgres;
  /** Signed in to it as the superuser. */
  connect(): Promise<Client>;
  readonly functions: Functions;
  /** Of every environment. */
  readonly events: readonly Events[];
  readonly queuesPort: number;
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
    // The main process, with or without the others.
    name: 'database-killed',
    ...ofOneDatabase,
    lasts: [0, 1_000],
    async begin({ postgres }) {
      const others = Math.random() < 0.5 ? childrenOf(postgres.pid) : [];
      signalAll([postgres.pid, ...others], 'SIGKILL');
      return () => postgres.restart();
    },
  },
  {
    // All of its processes, as on a machine that stalls.
    name: 'database-frozen',
    ...ofOneDatabase,
    lasts: [2_000, 12_000],
    async begin({ postgres }) {
      const all = [postgres.pid, ...childrenOf(postgres.pid)];
      signalAll(all, 'SIGSTOP');
      return async () => signalAll(all, 'SIGCONT');
    },
  },
  {
    name: 'tables-locked',
    ...ofOneDatabase,
    lasts: [2_000, 12_000],
    async begin({ connect }) {
      const client = await connect();
      await client.query('begin; lock table user_groups, webhooks in access exclusive mode');
      return () => client.end();
    },
  },
  {
    name: 'connections-exhausted',
    ...ofOneDatabase,
    lasts: [2_000, 6_000],
    async begin({ connect }) {
      const taken = [await connect()];
      const takeAll = async () => {
        while (await connect().then((client) => taken.push(client), isRefused));
      };
      await takeAll();
      // Functions reconnect in the meantime.
      for (let ended = 1; ended > 0; await takeAll()) ended = await endOthers(taken[0] as Client);
      return () => Promise.all(taken.map((client) => client.end()));
    },
  },
  {
    // Every 300 ms half of the functions' processes, idle or busy.
    name: 'functions-killed',
    reach: 'all',
    affectsDeletions: true,
    losesReaders: true,
    lasts: [2_000, 5_000],
    async begin({ functions }) {
      const timer = setInterval(() => functions.kill(0.5), 300);
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
    async begin({ queuesPort }) {
      const timer = setInterval(() => {
        for (const socket of connections) if (socket.localPort === queuesPort) socket.resetAndDestroy();
      }, 10);
      return async () => clearInterval(timer);
    },
  },
  {
    name: 'receivers-failing',
    reach: 'all',
    affectsDeletions: false,
    lasts: [3_000, 8_000],
    async begin({ events }) {
      for (const each of events) each.isFailing = true;
      return async () => {
        for (const each of events) each.isFailing = false;
      };
    },
  },
  {
    // Every function's clock, by more than the tolerance of tokens. A run ends only when it has caught up with a step ahead.
    name: 'clock-stepped',
    reach: 'all',
    affectsDeletions: true,
    lasts: [2_000, 6_000],
    async begin({ functions }) {
      await functions.setClock(oneOf([-30, -10, 10, 30]));
      return () => functions.setClock(0);
    },
  },
];

/** Connections to servers of this process: the queues are one of them. */
const connections = new Set<Socket>();
subscribe('net.server.socket', (message) => {
  const { socket } = message as { readonly socket: Socket };
  connections.add(socket);
  socket.once('close', () => connections.delete(socket));
});

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      // It has exited.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
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
