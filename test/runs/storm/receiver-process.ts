import { Ledger, type Subscription } from '../world/ledger';
import { startReceiver } from '../world/receiver';
import { type ReceiverKind, react } from './behaviour';

/** What this process is told. It answers the first with the ports, the last with a report of each webhook. */
export type ToReceivers =
  | {
      readonly kinds: readonly ReceiverKind[];
      readonly seed: number;
      readonly timeout: number;
    }
  | { readonly subscriptions: readonly Subscription[] }
  | 'report';

const ledgers = new Map<string, Ledger>();

async function handle(message: ToReceivers): Promise<unknown> {
  if (message === 'report') return [...ledgers.values()].map((ledger) => ledger.report());
  if ('subscriptions' in message) {
    for (const each of message.subscriptions) ledgers.set(each.webhookId, new Ledger(each));
    return undefined;
  }
  const { kinds, seed, timeout } = message;
  const receivers = kinds.map((kind) =>
    startReceiver(ledgers, ({ deliveryId, requests }) =>
      react(kind, `${seed} ${deliveryId} ${requests}`, timeout),
    ),
  );
  return (await Promise.all(receivers)).map(({ port }) => port);
}

// Ctrl-C in a terminal reaches every process of its group; the storm decides when this one ends.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit());
process.on('message', async (message: ToReceivers) => {
  const answer = await handle(message);
  if (answer) process.send?.(answer);
});
