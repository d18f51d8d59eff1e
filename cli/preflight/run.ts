import type { Environment } from '../../lib/environment/environment';
import { clientSettings } from '../target';
import { CallFailed, createCall } from './call';
import { type Answer, type Check, type Context, failed, notAsked } from './check';
import { checks } from './checks';
import { deployedStack } from './deployed-stack';
import type { PlannedStack } from './plan';

export interface PreflightOptions {
  readonly environment: Environment;
  readonly account: string | undefined;
  readonly stacks: readonly PlannedStack[];
  /** Milliseconds for each check. */
  readonly deadline: number;
  /** Ids of checks that are left out. */
  readonly without: readonly string[];
}

/** A check of one stack, under way. */
export interface Question {
  readonly check: Check;
  /** Undefined for a check of the account. */
  readonly stack: PlannedStack | undefined;
  /** Never rejects. */
  readonly answer: Promise<Answer>;
}

export interface Preflight {
  /** First the account's questions, then each stack's, in the order of the list. All are asked at once. */
  readonly questions: readonly Question[];
  /** Whether AWS has answered any call, be it by a refusal. Without, nothing was checked, whatever is ok without a call. */
  reachedAws(): boolean;
}

export function startPreflight(options: PreflightOptions): Preflight {
  const { environment, account, stacks, deadline, without } = options;
  let reached = false;
  const newCall = () =>
    createCall(deadline, () => {
      reached = true;
    });
  const contexts = new Map(
    stacks.map((stack) => {
      const settings = clientSettings(stack.region);
      const deployed = deployedStack(stack.name, settings, newCall());
      return [stack, { environment, account, stack, clientSettings: settings, ...deployed }] as const;
    }),
  );

  const started: Question[] = [];
  for (const stack of [undefined, ...stacks]) {
    const scope = stack ? 'stack' : 'account';
    for (const check of checks.filter((each) => each.scope === scope)) {
      const needed = started.filter(
        (earlier) => earlier.check.precondition && (!earlier.stack || earlier.stack === stack),
      );
      const context = contexts.get(stack ?? (stacks[0] as PlannedStack)) as Omit<Context, 'call'>;
      const answer = without.includes(check.id)
        ? Promise.resolve(notAsked('left out: --without'))
        : askAfter(check.precondition ? [] : needed, () =>
            settle(() => check.ask({ ...context, call: newCall() })),
          );
      started.push({ check, stack, answer });
    }
  }
  return { questions: started, reachedAws: () => reached };
}

/** What AWS says of another account, or of a region that is off, is of no use, and may mislead. */
async function askAfter(needed: readonly Question[], ask: () => Promise<Answer>): Promise<Answer> {
  for (const { check, answer } of needed) {
    if ((await answer).outcome === 'failed') return notAsked(`"${check.title}" has to be right first`);
  }
  return ask();
}

async function settle(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof CallFailed && error.kind === 'not-signed-up')
      return failed(error.message, error.remedy);
    if (error instanceof CallFailed) return notAsked(error.message);
    return failed(String(error), `This is a bug of the command line: ${(error as Error).stack}`);
  }
}
