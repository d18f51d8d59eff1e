import { setTimeout as sleep } from 'node:timers/promises';

/** Repeats `check` until it neither throws nor gives false. @throws what `check` threw last, after five seconds */
export async function eventually(check: () => unknown): Promise<void> {
  const deadline = performance.now() + 5_000;
  for (;;) {
    try {
      if ((await check()) === false) throw new Error('Waited 5 s in vain.');
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(20);
    }
  }
}
