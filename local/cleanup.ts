/** The steps that undo a start: they run in reverse order, and a failure does not keep the rest from running. */
export class Cleanup {
  private readonly steps: (() => unknown)[] = [];
  private running: Promise<void> = Promise.resolve();

  add(step: () => unknown): void {
    this.steps.push(step);
  }

  /**
   * Undoes everything; a second call waits for the first, and undoes what was added since.
   *
   * @throws AggregateError with every failure, when all has been tried
   */
  run(): Promise<void> {
    this.running = this.running.finally(async () => {
      const failures: unknown[] = [];
      for (let step = this.steps.pop(); step; step = this.steps.pop()) {
        await Promise.resolve()
          .then(step)
          .catch((error) => failures.push(error));
      }
      if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('\n'));
    });
    return this.running;
  }
}

/**
 * As `Promise.all`, but waits for all also when one fails, so that nothing starts during a cleanup.
 *
 * @throws the first failure
 */
export async function allSettledOrThrow<const T extends readonly unknown[]>(
  started: T,
): Promise<{ -readonly [index in keyof T]: Awaited<T[index]> }> {
  await Promise.allSettled(started);
  return Promise.all(started);
}
