import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Cleanup } from '../../../local/cleanup';
import type { Subscription, WebhookReport } from '../world/ledger';
import { type ReceiverKind, receiverKinds } from './behaviour';
import type { ToReceivers } from './receiver-process';
import type { StormSettings } from './settings';

export interface Receivers {
  /** Each is an HTTP server on 127.0.0.1. */
  readonly all: readonly { readonly kind: ReceiverKind; readonly port: number }[];
  subscribe(subscriptions: readonly Subscription[]): void;
  report(): Promise<readonly WebhookReport[]>;
}

/** Starts the receivers in their own process, so that nothing of the storm delays them. */
export async function startReceivers(
  cleanup: Cleanup,
  bundle: string,
  { receivers, seed, clock }: StormSettings,
): Promise<Receivers> {
  const child = fork(join(bundle, 'index.js'), [], {
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
  // A failure to send shows as the end of the process.
  const tell = (message: ToReceivers) => void child.send(message, () => undefined);
  const ask = async <Answer>(message: ToReceivers) => {
    const died = exited.then(() => Promise.reject(new Error('The receivers have ended.')));
    const answer = once(child, 'message');
    tell(message);
    const [value] = await Promise.race([answer, died]);
    return value as Answer;
  };

  const kinds = receiverKinds(receivers);
  const ports = await ask<readonly number[]>({ kinds, seed, timeout: clock.timeout });
  return {
    all: kinds.map((kind, index) => ({ kind, port: ports[index] as number })),
    subscribe: (subscriptions) => tell({ subscriptions }),
    report: () => ask<readonly WebhookReport[]>('report'),
  };
}
