import { setImmediate as nextTurn } from 'node:timers/promises';

interface Waiting<Item, Value> {
  readonly item: Item;
  resolve(value: Value): void;
  reject(error: unknown): void;
}

/**
 * Requests of the same turn of the event loop, or made while a call is in progress, share the next call. If it throws, each is
 * requested separately, so that one cannot fail the others: calls must be safe to repeat, and keep the order of the items.
 */
export function batchRequests<Item, Value>(
  requestAll: (items: readonly Item[]) => Promise<readonly Value[]>,
): (item: Item) => Promise<Value> {
  let waiting: Waiting<Item, Value>[] = [];
  let lastCall = Promise.resolve();

  async function requestWaiting(): Promise<void> {
    await nextTurn();
    const batch = waiting;
    waiting = [];
    await request(batch);
  }

  async function request(batch: readonly Waiting<Item, Value>[]): Promise<void> {
    try {
      const values = await requestAll(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(values[index] as Value);
    } catch (error) {
      if (batch.length > 1) await Promise.all(batch.map((alone) => request([alone])));
      else for (const { reject } of batch) reject(error);
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ item, resolve, reject }) === 1) lastCall = lastCall.then(requestWaiting);
    });
}
