import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { type Instance, type Runtime, startProcess } from '../../../local/aws/lambda/instance';
import type { Postgres } from '../../../local/postgres/postgres';
import { childrenOf } from '../../support/local-command';

export interface FaultContext {
  /** Of one environment. */
  readonly postgres: Postgres;
  readonly queuesPort: number;
  failReceivers(isFailing: boolean): void;
}

/** Ends a fault. */
type End = () => unknown;

export interface Fault {
  readonly name: string;
  /** In one environment, without effect on the others, or in all, for a shared service. */
  readonly reach: 'one' | 'all';
  /** Whether deletions may be refused meanwhile. */
  readonly affectsDeletions: boolean;
  /** Whether a message may be lost to a killed reader until its visibility timeout. */
  readonly losesReaders: boolean;
  begin(context: FaultContext): End | Promise<End>;
}

export const faults: readonly Fault[] = [
  {
    // The main process, with or without the others.
    name: 'database-killed',
    ...{ reach: 'one', affectsDeletions: true, losesReaders: false },
    begin({ postgres }) {
      const others = Math.random() < 0.5 ? childrenOf(postgres.pid) : [];
      signalAll([postgres.pid, ...others], 'SIGKILL');
      return () => postgres.restart();
    },
  },
  {
    // All of its processes, as on a machine that stalls.
    name: 'database-frozen',
    ...{ reach: 'one', affectsDeletions: true, losesReaders: false },
    begin({ postgres }) {
      const all = [postgres.pid, ...childrenOf(postgres.pid)];
      signalAll(all, 'SIGSTOP');
      return () => signalAll(all, 'SIGCONT');
    },
  },
  {
    // Half of the functions' processes, idle or busy, again and again.
    name: 'functions-killed',
    ...{ reach: 'all', affectsDeletions: true, losesReaders: true },
    begin: () =>
      repeat(300, () => {
        for (const instance of instances) if (Math.random() < 0.5) instance.kill();
      }),
  },
  {
    // The emulator keeps messages in memory: its restart would lose them, as SQS never does. So connections are reset.
    name: 'queues-reset',
    ...{ reach: 'all', affectsDeletions: false, losesReaders: true },
    begin: ({ queuesPort }) =>
      repeat(10, () => {
        for (const socket of connections) if (socket.localPort === queuesPort) socket.resetAndDestroy();
      }),
  },
  {
    name: 'receivers-failing',
    ...{ reach: 'all', affectsDeletions: false, losesReaders: false },
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
    } catch (error) {
      // It has exited.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
