/** Cleanup steps, run in reverse order. If one fails, the rest still run. */
export class Cleanup {
  private readonly steps: (() => unknown)[] = [];
  private readonly inner: Cleanup[] = [];
  private running: Promise<void> = Promise.resolve();

  add(step: () => unknown): void {
    this.steps.push(step);
  }

  /** A cleanup that runs before these steps, together with other nested ones. */
  nested(): Cleanup {
    const cleanup = new Cleanup();
    this.inner.push(cleanup);
    return cleanup;
  }

  /**
   * Runs all steps. A second call waits for the first, then runs steps added since.
   *
   * @throws AggregateError with every failure, after all steps
   */
  run(): Promise<void> {
    this.running = this.running.finally(async () => {
      const failures = new Set<unknown>();
      const attempt = (step: () => unknown) =>
        Promise.resolve()
          .then(step)
          .catch((error) => {
            for (const each of error instanceof AggregateError ? error.errors : [error]) failures.add(each);
          });
      await Promise.all(this.inner.map((each) => attempt(() => each.run())));
      for (let step = this.steps.pop(); step; step = this.steps.pop()) await attempt(step);
      if (failures.size === 0) return;
      const all = [...failures];
      throw new AggregateError(all, all.map((each) => (each as Error).message).join('\n'));
    });
    return this.running;
  }
}

/**
 * Like `Promise.all`, but after a failure it waits for the rest, so that nothing starts during cleanup.
 *
 * @throws the first failure
 */
export async function allSettledOrThrow<const T extends readonly unknown[]>(
  started: T,
): Promise<{ -readonly [index in keyof T]: Awaited<T[index]> }> {
  await Promise.allSettled(started);
  return Promise.all(started);
}
