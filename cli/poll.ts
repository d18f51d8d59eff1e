import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Asks, every so many milliseconds, until there is an answer.
 *
 * @returns undefined when the time has run out
 * @throws AbortError
 */
export async function poll<T>(
  ask: () => Promise<T | undefined> | T | undefined,
  {
    seconds,
    every,
    signal,
  }: { readonly seconds: number; readonly every: number; readonly signal?: AbortSignal },
): Promise<T | undefined> {
  const deadline = Date.now() + seconds * 1_000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() >= deadline) return undefined;
    await sleep(every, undefined, { signal });
  }
}
