import { setTimeout as sleep } from 'node:timers/promises';

interface PollOptions {
  readonly seconds: number;
  /** Milliseconds between two questions. */
  readonly every: number;
  /** @default - not interrupted */
  readonly signal?: AbortSignal;
}

/**
 * Asks until there is an answer.
 *
 * @returns undefined when the time has run out
 * @throws AbortError
 */
export async function poll<T>(
  ask: () => Promise<T | undefined> | T | undefined,
  { seconds, every, signal }: PollOptions,
): Promise<T | undefined> {
  const deadline = Date.now() + seconds * 1_000;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (Date.now() >= deadline) return undefined;
    await sleep(every, undefined, { signal });
  }
}
