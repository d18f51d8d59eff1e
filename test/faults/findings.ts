import type { FaultKind } from './kinds';

/** One fault that was made, and how it was overcome. */
export interface MadeFault {
  readonly kind: FaultKind;
  /** Names of the environments that it was made in. */
  readonly environments: readonly string[];
  /** Milliseconds since 1970, as the following. */
  readonly from: number;
  readonly until: number;
  /** When an environment, by name, deleted a group again. */
  readonly deletionsRecovered: ReadonlyMap<string, number>;
  /** When an event that was sent after it had arrived at every webhook. */
  readonly deliveriesRecovered: ReadonlyMap<string, number>;
}

/** What is checked, each in the words of the report. */
export const checkNames = [
  'answers in a documented shape',
  'answers as expected where nothing is in trouble',
  'groups whole, or gone with everything, as the audit says',
  'user actions used at most once',
  'used user actions refused for a group made again',
  'accepted events delivered, none given up',
  'recoveries of deletions in time',
  'recoveries of deliveries in time',
] as const;

export type CheckName = (typeof checkNames)[number];

/** Counts checks and keeps what was found wrong. */
export class Findings {
  readonly checks = new Map<CheckName, number>();
  readonly violations: string[] = [];

  count(check: CheckName, times = 1): void {
    this.checks.set(check, (this.checks.get(check) ?? 0) + times);
  }

  /** Counts one check; undefined is fine, a text is what is wrong. */
  check(check: CheckName, problem: string | undefined): void {
    this.count(check);
    if (problem !== undefined) this.violate(`${check}: ${problem}`);
  }

  violate(violation: string): void {
    this.violations.push(`${new Date().toISOString()} ${violation}`);
  }
}
