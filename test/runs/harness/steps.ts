import type { Check } from './checks';
import type { Harness } from './command';

/** Checks that are made one after the other, each told when it begins. */
export class Steps {
  readonly checks: Check[] = [];

  constructor(private readonly harness: Harness) {}

  /** Gives nothing when `work` fails: the lines of its message are then the violations. @throws when the run was interrupted */
  async check<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    this.harness.progress(name);
    const violations: string[] = [];
    const found = await work().catch(({ message }: Error) => {
      this.harness.signal.throwIfAborted();
      violations.push(...message.trimEnd().split('\n'));
      return undefined;
    });
    this.checks.push({ name, violations });
    return found;
  }
}
