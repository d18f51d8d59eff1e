import { performance } from 'node:perf_hooks';
import { CommandFailed } from './failure';

export interface StepResult {
  readonly name: string;
  /**
   * `skipped` was not tried: something that it needs failed, or Ctrl-C came before it. `unchecked` cannot be checked
   * from here, or was left out on demand.
   */
  readonly outcome: 'passed' | 'failed' | 'skipped' | 'unchecked';
  /** Milliseconds; null for what was not tried. */
  readonly ms: number | null;
  /** What was found, or why not. */
  readonly detail: string;
  /** What an operator can do about a failure. */
  readonly remedy: string | null;
}

/**
 * Does a step and reports it.
 *
 * @param need what an earlier step found; the step is skipped when that is undefined
 * @param work throws CommandFailed for what is not as it should be
 * @returns what it found, for the steps after it; undefined when it failed or was skipped
 */
type Step = <Need, T>(
  name: string,
  need: Need | undefined,
  work: (need: Need) => Promise<{ readonly value: T; readonly detail: string }>,
) => Promise<T | undefined>;

/**
 * A sequence of steps that goes on after a failure, as far as it can.
 *
 * @param signal aborted by Ctrl-C: the steps that have not begun are skipped, but for a `lastStep`
 * @param report gets each result when its step ends
 */
export function createSteps(signal: AbortSignal, report: (result: StepResult) => void) {
  const results: StepResult[] = [];
  const add = (
    name: string,
    outcome: StepResult['outcome'],
    detail: string,
    ms: number | null = null,
    remedy: string | null = null,
  ) => {
    const result = { name, outcome, ms, detail, remedy };
    results.push(result);
    report(result);
    return undefined;
  };
  const skip = (name: string) =>
    add(name, 'skipped', signal.aborted ? 'interrupted' : 'needs a step that failed');

  const lastStep: Step = async (name, need, work) => {
    if (need === undefined) return skip(name);
    const begun = performance.now();
    const ms = () => Math.round(performance.now() - begun);
    try {
      const { value, detail } = await work(need);
      add(name, 'passed', detail, ms());
      return value;
    } catch (error) {
      const { name: kind, message, stack } = error as Error;
      if (signal.aborted && kind === 'AbortError') return add(name, 'skipped', 'interrupted', ms());
      const bug = `This is a bug of the command line: ${stack}`;
      return add(
        name,
        'failed',
        message,
        ms(),
        error instanceof CommandFailed ? (error.remedy ?? null) : bug,
      );
    }
  };
  return {
    results: results as readonly StepResult[],
    lastStep,
    step: ((name, need, work) => lastStep(name, signal.aborted ? undefined : need, work)) as Step,
    /** Reports steps as unchecked. @param needed reports them as skipped when what they need is undefined */
    leaveOut:
      (reason: string, needed: boolean): Step =>
      async (name, need) =>
        needed && need === undefined ? skip(name) : add(name, 'unchecked', reason),
  };
}
