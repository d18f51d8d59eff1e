import { setTimeout as sleep } from 'node:timers/promises';

/** Repeats `check` until it neither throws nor returns false. @throws the last error, after these seconds: many, for a busy machine */
export async function eventually(check: () => unknown, seconds = 120): Promise<void> {
  const deadline = performance.now() + seconds * 1_000;
  for (;;) {
    try {
      if ((await check()) === false) throw new Error(`Waited ${seconds} s in vain.`);
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(20);
    }
  }
}
