/** Cleanup steps, run in reverse order. If one fails, the rest still run. */
export class Cleanup {
  private readonly steps: (() => unknown)[] = [];
  private running: Promise<void> = Promise.resolve();

  add(step: () => unknown): void {
    this.steps.push(step);
  }

  /**
   * Runs all steps. A second call waits for the first, then runs steps added since.
   *
   * @throws AggregateError with every failure, after all steps
   */
  run(): Promise<void> {
    this.running = this.running.finally(async () => {
      const failures: unknown[] = [];
      for (let step = this.steps.pop(); step; step = this.steps.pop()) {
        await Promise.resolve()
          .then(step)
          .catch((error) => failures.push(...(error instanceof AggregateError ? error.errors : [error])));
      }
      if (failures.length > 0)
        throw new AggregateError(failures, failures.map((each) => (each as Error).message).join('\n'));
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
