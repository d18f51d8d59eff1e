import { setTimeout as sleep } from 'node:timers/promises';

/** Work that is begun again and again until it is stopped. */
export class Flow {
  private readonly underWay = new Set<Promise<unknown>>();
  private stopped = false;

  /**
   * @param options `rate`: a second. `width`: under way at once, at most. @default - no limit
   * @param begin never rejects
   */
  constructor(
    private readonly options: { readonly rate: number; readonly width?: number },
    private readonly begin: () => Promise<unknown>,
  ) {}

  /** Resolves when it was stopped and nothing is under way any more. */
  async run(): Promise<void> {
    const { rate, width = Number.POSITIVE_INFINITY } = this.options;
    while (!this.stopped) {
      if (this.underWay.size < width) {
        const begun: Promise<unknown> = this.begin().finally(() => this.underWay.delete(begun));
        this.underWay.add(begun);
      }
      await sleep(1_000 / rate);
    }
    await Promise.all(this.underWay);
  }

  stop(): void {
    this.stopped = true;
  }
}
