import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Cleanup } from '../../../lib/local/cleanup';
import type { StormSettings } from '../settings';
import { type ReceiverKind, receiverKinds } from './behaviour';
import type { Subscription, WebhookLedger } from './ledger';
import type { FromReceivers, ToReceivers } from './process';

export interface Receivers {
  /** Each an HTTP server of its own on 127.0.0.1. */
  readonly all: readonly { readonly kind: ReceiverKind; readonly port: number }[];
  subscribe(subscriptions: readonly Subscription[]): void;
  report(): Promise<readonly WebhookLedger[]>;
}

/** Starts the receivers in a process of their own, so that what the storm does meanwhile does not delay them. */
export async function startReceivers(
  cleanup: Cleanup,
  bundles: string,
  { receivers, seed, clock }: StormSettings,
): Promise<Receivers> {
  const child = fork(join(bundles, 'receivers', 'index.js'), [], {
    env: {},
    execArgv: [],
    serialization: 'advanced',
    // Ctrl-C in a terminal reaches a whole process group: this process alone decides when the receivers end.
    detached: true,
  });
  const exited = once(child, 'exit');
  cleanup.add(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  // That it cannot be told any more comes out as its end.
  const tell = (message: ToReceivers) => void child.send(message, () => undefined);
  const ask = async <Type extends FromReceivers['type']>(message: ToReceivers) => {
    const died = exited.then(() => Promise.reject(new Error('The receivers have ended.')));
    const answer = once(child, 'message');
    tell(message);
    const [value] = await Promise.race([answer, died]);
    return value as Extract<FromReceivers, { type: Type }>;
  };

  const kinds = receiverKinds(receivers);
  const { ports } = await ask<'ports'>({ type: 'start', kinds, seed, timeout: clock.timeout });
  return {
    all: kinds.map((kind, index) => ({ kind, port: ports[index] as number })),
    subscribe: (subscriptions) => tell({ type: 'subscribe', subscriptions }),
    report: async () => (await ask<'ledgers'>({ type: 'report' })).ledgers,
  };
}
