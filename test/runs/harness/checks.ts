/** Something that must hold, and what was seen against it. */
export interface Check {
  readonly name: string;
  /** How often it was looked at. @default - once */
  readonly times?: number;
  readonly violations: readonly string[];
}

export const isBroken = ({ violations }: Check): boolean => violations.length > 0;

/** Collects what is checked again and again; each violation is noted with its time. */
export class Checks<Name extends string> {
  private readonly seen: ReadonlyMap<Name, { times: number; readonly violations: string[] }>;

  constructor(names: readonly Name[]) {
    this.seen = new Map(names.map((name) => [name, { times: 0, violations: [] }]));
  }

  /** Counts `times` checks; a `problem` is what is wrong. */
  hold(name: Name, problem?: string, times = 1): void {
    const check = this.seen.get(name);
    if (!check) throw new Error(`There is no check with the name '${name}'.`);
    check.times += times;
    if (problem !== undefined) check.violations.push(`${new Date().toISOString()} ${problem}`);
  }

  get all(): readonly Check[] {
    return [...this.seen].map(([name, check]) => ({ name, ...check }));
  }

  get violations(): readonly string[] {
    return this.all.flatMap(({ violations }) => violations);
  }
}

/** Violations of one check that a report shows. */
const shown = 10;

/** A line for each check, and its first violations below it. */
export const formatChecks = (checks: readonly Check[]): string[] =>
  checks.flatMap(({ name, times, violations }) => [
    `${violations.length === 0 ? 'holds ' : 'BROKEN'}  ${name}${times === undefined ? '' : ` (${times})`}`,
    ...violations.slice(0, shown).map((violation) => `          ${violation}`),
    ...(violations.length > shown ? [`          and ${violations.length - shown} more`] : []),
  ]);
