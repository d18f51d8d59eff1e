import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { type Instance, type Runtime, startProcess } from '../../../local/aws/lambda/instance';
import type { Postgres } from '../../../local/postgres/postgres';
import { childrenOf } from '../../support/local-command';
import { killServer } from '../../support/postgres';
import { visibilityTimeout } from './events';

export interface FaultContext {
  readonly databases: readonly Postgres[];
  readonly queuesPort: number;
  failReceivers(isFailing: boolean): void;
}

/** Ends a fault. */
type End = () => unknown;

export interface Fault {
  readonly name: string;
  /** Whether deletions may be refused meanwhile. */
  readonly affectsDeletions: boolean;
  /** Seconds after its end in which deliveries must work again. */
  readonly deliveriesWithin: number;
  begin(context: FaultContext): End;
}

const usual = 20;
/** A killed reader's messages are visible again after its timeout, which may happen twice. */
const afterLostReaders = usual + 2 * visibilityTimeout;

/** Each in all environments. */
export const faults: readonly Fault[] = [
  {
    name: 'database-killed',
    ...{ affectsDeletions: true, deliveriesWithin: usual },
    begin({ databases }) {
      for (const { pid } of databases) killServer(pid);
      return () => Promise.all(databases.map((postgres) => postgres.restart()));
    },
  },
  {
    // All of its processes, as on a machine that stalls.
    name: 'database-frozen',
    ...{ affectsDeletions: true, deliveriesWithin: usual },
    begin({ databases }) {
      const all = databases.flatMap(({ pid }) => [pid, ...childrenOf(pid)]);
      signalAll(all, 'SIGSTOP');
      return () => signalAll(all, 'SIGCONT');
    },
  },
  {
    // Half of the functions' processes, idle or busy, again and again.
    name: 'functions-killed',
    ...{ affectsDeletions: true, deliveriesWithin: afterLostReaders },
    begin: () =>
      repeat(300, () => {
        for (const instance of instances) if (Math.random() < 0.5) instance.kill();
      }),
  },
  {
    // The emulator keeps messages in memory: its restart would lose them, as SQS never does. So connections are reset.
    name: 'queues-reset',
    ...{ affectsDeletions: false, deliveriesWithin: afterLostReaders },
    begin: ({ queuesPort }) =>
      repeat(10, () => {
        for (const socket of connections) if (socket.localPort === queuesPort) socket.resetAndDestroy();
      }),
  },
  {
    name: 'receivers-failing',
    ...{ affectsDeletions: false, deliveriesWithin: usual },
    begin({ failReceivers }) {
      failReceivers(true);
      return () => failReceivers(false);
    },
  },
];

const instances = new Set<Instance>();

/** Runs functions in processes that can be killed. */
export const startKillable: Runtime = async (code) => {
  const instance = await startProcess(code);
  if ('ok' in instance) return instance;
  instances.add(instance);
  void instance.ended.then(() => instances.delete(instance));
  return instance;
};

/** Connections to servers of this process: the queues are one of them. */
const connections = new Set<Socket>();
subscribe('net.server.socket', (message) => {
  const { socket } = message as { readonly socket: Socket };
  connections.add(socket);
  socket.once('close', () => connections.delete(socket));
});

function repeat(milliseconds: number, work: () => void): End {
  const timer = setInterval(work, milliseconds);
  return () => clearInterval(timer);
}

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has exited.
    }
  }
}
