import { performance } from 'node:perf_hooks';
import { CommandFailed } from '../failure';

/**
 * `skipped` was not tried: something that it needs failed, or Ctrl-C came before it. `unchecked` cannot be told from
 * here, or was left out on demand.
 */
export type StepOutcome = 'passed' | 'failed' | 'skipped' | 'unchecked';

export interface StepResult {
  readonly name: string;
  readonly outcome: StepOutcome;
  /** Milliseconds; null for what was not tried. */
  readonly ms: number | null;
  /** What was found, or why not. */
  readonly detail: string;
  /** What an operator can do about a failure. */
  readonly remedy: string | null;
}

/** What a step found out: for the steps after it, and for people. */
export interface StepOutput<T> {
  readonly value: T;
  readonly detail: string;
}

/** A sequence of steps that goes on after a failure, as far as it can. */
export interface Run {
  readonly results: readonly StepResult[];
  /**
   * Does a step and reports it.
   *
   * @param need what an earlier step found; the step is skipped when that is `undefined`
   * @param work throws CommandFailed for what is not as it should be
   * @returns what it found; `undefined` when it failed or was skipped
   */
  step<Need, T>(
    name: string,
    need: Need | undefined,
    work: (need: Need) => Promise<StepOutput<T>>,
  ): Promise<T | undefined>;
  /** As `step`, and also after Ctrl-C. */
  lastStep: Run['step'];
  /**
   * Reports a step as unchecked; as skipped when what it needs is `undefined`.
   *
   * @param need as that of `step`
   */
  leaveOut(name: string, need: unknown, reason: string): void;
}

/**
 * @param signal aborted by Ctrl-C: the steps that have not begun are skipped
 * @param report is told of each step when it ends
 */
export function createRun(signal: AbortSignal, report: (result: StepResult) => void): Run {
  const results: StepResult[] = [];
  const add = (name: string, outcome: StepOutcome, detail: string, more: Partial<StepResult> = {}) => {
    const result = { name, outcome, ms: null, detail, remedy: null, ...more };
    results.push(result);
    report(result);
  };

  const skip = (name: string) =>
    add(name, 'skipped', signal.aborted ? 'interrupted' : 'needs a step that failed');

  const perform: Run['step'] = async (name, need, work) => {
    if (need === undefined) {
      skip(name);
      return undefined;
    }
    const begun = performance.now();
    const ms = () => Math.round(performance.now() - begun);
    try {
      const { value, detail } = await work(need);
      add(name, 'passed', detail, { ms: ms() });
      return value;
    } catch (error) {
      if (wasInterrupted(error, signal)) add(name, 'skipped', 'interrupted', { ms: ms() });
      else add(name, 'failed', String((error as Error).message), { ms: ms(), remedy: remedyOf(error) });
      return undefined;
    }
  };

  return {
    results,
    step: (name, need, work) => perform(name, signal.aborted ? undefined : need, work),
    lastStep: perform,
    leaveOut: (name, need, reason) => (need === undefined ? skip(name) : add(name, 'unchecked', reason)),
  };
}

const wasInterrupted = (error: unknown, signal: AbortSignal) =>
  signal.aborted && (error as Error).name === 'AbortError';

function remedyOf(error: unknown): string | null {
  if (error instanceof CommandFailed) return error.remedy ?? null;
  return `This is a bug of the command line: ${(error as Error).stack}`;
}
