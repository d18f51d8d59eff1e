import { setImmediate as nextTurn } from 'node:timers/promises';

interface Waiting<Item, Answer> {
  readonly item: Item;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/**
 * Asks for many things in one call: what is asked for in the same turn of the event loop, or while a call is under way,
 * goes with the next one. Nothing waits for company.
 *
 * A call that throws is made again for each of its items alone, so that one cannot take others with it: it must have
 * done nothing, or be safe to repeat.
 *
 * @param askAll gives the answers in the order of the items
 */
export function coalesce<Item, Answer>(
  askAll: (items: readonly Item[]) => Promise<readonly Answer[]>,
): (item: Item) => Promise<Answer> {
  let waiting: Waiting<Item, Answer>[] = [];
  let isAsking = false;

  async function askWaiting(): Promise<void> {
    isAsking = true;
    while (waiting.length > 0) {
      await nextTurn();
      const together = waiting;
      waiting = [];
      await ask(together);
    }
    isAsking = false;
  }

  async function ask(together: readonly Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await askAll(together.map(({ item }) => item));
      for (const [index, { resolve }] of together.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      if (together.length > 1) await Promise.all(together.map((alone) => ask([alone])));
      else for (const { reject } of together) reject(error);
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!isAsking) void askWaiting();
    });
}
