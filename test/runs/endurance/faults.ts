import { type Instance, type Runtime, startProcess } from '../../../local/aws/lambda/instance';
import type { Postgres } from '../../../local/postgres/postgres';
import { childrenOf } from '../../support/local-command';
import { killServer } from '../../support/postgres';
import { visibilityTimeout } from './events';

export interface Fault {
  readonly name: string;
  /** Seconds after its end in which deliveries must work again. */
  readonly deliveriesWithin: number;
  /** Begins in all environments. @returns what ends it */
  begin(databases: readonly Postgres[]): () => unknown;
}

export const faults: readonly Fault[] = [
  {
    name: 'database-killed',
    deliveriesWithin: 20,
    begin(databases) {
      for (const { pid } of databases) killServer(pid);
      return () => Promise.all(databases.map((postgres) => postgres.restart()));
    },
  },
  {
    // All of its processes, as on a machine that stalls.
    name: 'database-frozen',
    deliveriesWithin: 20,
    begin(databases) {
      const all = databases.flatMap(({ pid }) => [pid, ...childrenOf(pid)]);
      signalAll(all, 'SIGSTOP');
      return () => signalAll(all, 'SIGCONT');
    },
  },
  {
    // Half of the functions' processes, idle or busy, again and again.
    name: 'functions-killed',
    // A killed reader's messages are visible again after the timeout, which may happen twice.
    deliveriesWithin: 20 + 2 * visibilityTimeout,
    begin() {
      const timer = setInterval(() => {
        for (const instance of instances) if (Math.random() < 0.5) instance.kill();
      }, 300);
      return () => clearInterval(timer);
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

function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has exited.
    }
  }
}
