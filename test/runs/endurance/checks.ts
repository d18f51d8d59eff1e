/** Counts checks, and keeps the violations. */
export class Checks {
  readonly violations: string[] = [];
  private readonly times = new Map<string, number>();

  hold(name: string, isHeld: boolean, problem: string): void {
    this.times.set(name, (this.times.get(name) ?? 0) + 1);
    if (!isHeld) this.violations.push(`BROKEN  ${name}: ${problem}`);
  }

  /** The number of each check, and the first violations. */
  format(): string {
    const counts = [...this.times].map(([name, times]) => `checked ${times} times: ${name}`);
    return [...counts, `${this.violations.length} violations`, ...this.violations.slice(0, 30)].join('\n');
  }
}
