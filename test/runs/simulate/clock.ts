import { setImmediate as turn } from 'node:timers/promises';

/** @returns false if it set nothing off, so that nothing has to come to rest */
type Run = () => unknown;

/** A clock that jumps: it moves on only when nothing is left to do at its time. */
export class Clock {
  /** Milliseconds since 1970. */
  now = Date.UTC(2026, 10, 20);
  /** Keyed by time; those of one time stay in order. */
  private readonly timers = new Map<number, Run[]>();
  /** The keys, latest first. */
  private readonly times: number[] = [];
  private activity = 0;

  /** Something happened: what it set off may not have come to rest. */
  touch(): void {
    this.activity++;
  }

  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.after(milliseconds, resolve));
  }

  after(milliseconds: number, run: Run): void {
    const at = this.now + Math.max(0, Math.ceil(milliseconds));
    const others = this.timers.get(at);
    if (others) return void others.push(run);
    this.timers.set(at, [run]);
    this.times.splice(this.times.findLastIndex((time) => time > at) + 1, 0, at);
  }

  /** Runs what is due, one timer after another, until `end`, until `isDone`, or until nothing is left. */
  async run(end: number, isDone = () => false): Promise<void> {
    await this.settle();
    for (;;) {
      const next = this.times.at(-1);
      if (next === undefined || next > end || isDone()) return;
      this.now = next;
      for (const run of this.timers.get(next) ?? []) {
        if (run() === false) continue;
        this.touch();
        await this.settle();
      }
      this.timers.delete(next);
      this.times.pop();
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
