import { setImmediate as turn } from 'node:timers/promises';

/** A clock that jumps: it moves on only when nothing is left to do at its time. */
export class Clock {
  /** Milliseconds since 1970. */
  now = Date.UTC(2026, 10, 20);
  /** Keyed by time; those of one time stay in order. */
  private readonly timers = new Map<number, (() => void)[]>();
  /** The times, as a heap: none is before its parent. */
  private readonly times: number[] = [];
  private activity = 0;

  /** Something happened: what it set off may not have come to rest. */
  touch(): void {
    this.activity++;
  }

  wait(milliseconds: number): Promise<void> {
    return new Promise((resolve) => this.after(milliseconds, resolve));
  }

  after(milliseconds: number, run: () => void): void {
    const at = this.now + Math.max(0, Math.ceil(milliseconds));
    const others = this.timers.get(at);
    if (others) return void others.push(run);
    this.timers.set(at, [run]);
    let index = this.times.push(at) - 1;
    for (let parent = (index - 1) >> 1; index > 0 && at < this.time(parent); parent = (index - 1) >> 1) {
      this.times[index] = this.time(parent);
      index = parent;
    }
    this.times[index] = at;
  }

  /** Runs what is due, one timer after another, until `end`, until `isDone`, or until nothing is left. */
  async run(end: number, isDone = () => false): Promise<void> {
    await this.settle();
    while (this.times.length > 0 && this.time(0) <= end && !isDone()) {
      this.now = this.time(0);
      const due = this.timers.get(this.now) ?? [];
      for (const run of due) {
        this.activity++;
        run();
        await this.settle();
      }
      this.timers.delete(this.now);
      this.removeFirst();
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

  private removeFirst(): void {
    const last = this.times.pop() ?? 0;
    const count = this.times.length;
    for (let index = 0; index < count; ) {
      const [left, right] = [2 * index + 1, 2 * index + 2];
      const child = right < count && this.time(right) < this.time(left) ? right : left;
      const isLast = child >= count || last <= this.time(child);
      this.times[index] = isLast ? last : this.time(child);
      index = isLast ? count : child;
    }
  }

  private time(index: number): number {
    return this.times[index] ?? 0;
  }
}
