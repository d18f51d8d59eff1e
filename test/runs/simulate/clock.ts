import { setImmediate as turn } from 'node:timers/promises';

/** A clock that jumps: it moves on only when nothing is left to do at its time. */
export class Clock {
  /** Milliseconds since 1970. */
  now = Date.UTC(2026, 10, 20);
  /** Latest first. */
  private readonly timers: { readonly at: number; readonly run: () => unknown }[] = [];
  private activity = 0;

  /** Something happened: what it set off may not have come to rest. */
  touch(): void {
    this.activity++;
  }

  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.after(milliseconds, resolve));
  }

  /** @param run returns false if it set nothing off, so that nothing has to come to rest */
  after(milliseconds: number, run: () => unknown): void {
    const at = this.now + Math.max(0, Math.ceil(milliseconds));
    // After those of the same time.
    this.timers.splice(this.timers.findLastIndex((timer) => timer.at > at) + 1, 0, { at, run });
  }

  /** Runs what is due, one timer after another, until `end`, until `isDone`, or until nothing is left. */
  async run(end: number, isDone: () => boolean): Promise<void> {
    await this.settle();
    for (;;) {
      const next = this.timers.at(-1);
      if (!next || next.at > end || isDone()) return;
      this.timers.pop();
      this.now = next.at;
      if (next.run() === false) continue;
      this.touch();
      await this.settle();
    }
  }

  /** `batchRequests` waits for one turn of the event loop between two calls: two turns in which nothing happens are rest. */
  private async settle(): Promise<void> {
    for (let before = -1; before !== this.activity; ) {
      before = this.activity;
      await turn();
      await turn();
    }
  }
}
