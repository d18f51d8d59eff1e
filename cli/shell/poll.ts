import { setTimeout as sleep } from 'node:timers/promises';

interface PollOptions {
  readonly seconds: number;
  readonly every: number;
  readonly signal?: AbortSignal | undefined;
}

/** Polls until `look` returns a value. @returns undefined after the timeout @throws AbortError */
export async function poll<T>(
  look: () => Promise<T | undefined> | T | undefined,
  { seconds, every, signal }: PollOptions,
): Promise<T | undefined> {
  const deadline = Date.now() + seconds * 1_000;
  for (;;) {
    const answer = await look();
    if (answer !== undefined || Date.now() >= deadline) return answer;
    await sleep(every, undefined, { signal });
  }
}
