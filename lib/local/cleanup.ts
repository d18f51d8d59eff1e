/** What has to be undone of what was started: the latest first, each in spite of what fails before it. */
export class Cleanup {
  private readonly steps: (() => Promise<void>)[] = [];
  private running: Promise<void> | undefined;

  add(step: () => Promise<void>): void {
    this.steps.push(step);
  }

  /**
   * Undoes everything; a second call waits for the first, and undoes what was added since.
   *
   * @throws AggregateError with every failure, when all has been tried
   */
  run(): Promise<void> {
    this.running = this.running?.finally(() => this.undo()) ?? this.undo();
    return this.running;
  }

  private async undo(): Promise<void> {
    const failures: unknown[] = [];
    for (let step = this.steps.pop(); step; step = this.steps.pop()) {
      await step().catch((error) => failures.push(error));
    }
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('\n'));
  }
}

/**
 * As `Promise.all`, but waits for every one also when one fails, so that nothing starts while the rest is undone.
 *
 * @throws the first failure
 */
export async function allOrNone<const T extends readonly unknown[]>(
  started: T,
): Promise<{ -readonly [index in keyof T]: Awaited<T[index]> }> {
  await Promise.allSettled(started);
  return Promise.all(started);
}
