import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ReceiverKind, react } from './behaviour';
import { Ledger, type Subscription, type WebhookLedger } from './ledger';

/** What this process is told, and what it answers to each: `ports`, nothing, `ledgers`. */
export type ToReceivers =
  | {
      readonly type: 'start';
      readonly kinds: readonly ReceiverKind[];
      readonly seed: number;
      readonly timeout: number;
    }
  | { readonly type: 'subscribe'; readonly subscriptions: readonly Subscription[] }
  | { readonly type: 'report' };
export type FromReceivers =
  | { readonly type: 'ports'; readonly ports: readonly number[] }
  | { readonly type: 'ledgers'; readonly ledgers: readonly WebhookLedger[] };

const ledgers = new Map<string, Ledger>();

async function start({ kinds, seed, timeout }: Extract<ToReceivers, { type: 'start' }>): Promise<number[]> {
  return Promise.all(
    kinds.map(async (kind) => {
      const server = createServer((request, response) => receive(request, response));
      server.requestTimeout = 0;
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4_096, resolve));
      return (server.address() as AddressInfo).port;

      function receive(request: IncomingMessage, response: ServerResponse): void {
        const arrivedAt = Date.now();
        const chunks: Buffer[] = [];
        request.on('error', () => undefined);
        request.on('data', (chunk: Buffer) => chunks.push(chunk));
        request.on('end', () => {
          const ledger = ledgers.get(request.url?.slice(1) ?? '');
          const headers = request.headers as Record<string, string>;
          const arrival = ledger?.enter({ headers, body: Buffer.concat(chunks).toString(), arrivedAt });
          if (!ledger || !arrival) return void response.writeHead(400).end();
          const { deliveryId, requests: number } = arrival;
          const reaction = react(kind, { seed, deliveryId, number }, timeout);
          if (reaction.kind === 'reset') request.socket.resetAndDestroy();
          if (reaction.kind !== 'answer') return;
          const { status, retryAfter, after = 0 } = reaction;
          setTimeout(() => {
            if (response.destroyed) return;
            ledger.countAnswer(arrival, status);
            response.writeHead(status, retryAfter ? { 'retry-after': retryAfter } : {}).end();
          }, after);
        });
      }
    }),
  );
}

async function handle(message: ToReceivers): Promise<FromReceivers | undefined> {
  switch (message.type) {
    case 'start':
      return { type: 'ports', ports: await start(message) };
    case 'subscribe':
      for (const subscription of message.subscriptions) {
        ledgers.set(subscription.webhookId, new Ledger(subscription));
      }
      return undefined;
    case 'report':
      return { type: 'ledgers', ledgers: [...ledgers.values()].map((ledger) => ledger.report()) };
  }
}

// Ctrl-C in a terminal reaches every process of its group; the storm decides when this one ends.
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit());
process.on('message', async (message: ToReceivers) => {
  const answer = await handle(message);
  if (answer) process.send?.(answer);
});
