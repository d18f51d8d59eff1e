import { type Command, InvalidArgumentError } from 'commander';
import { readAccounts } from '../../lib/environment/accounts';
import { environments } from '../../lib/environments';
import { CommandFailed, UsedWrongly } from '../failure';
import { environmentToWorkOn, time } from '../options';
import type { Terminal } from '../terminal';
import type { Answer } from './check';
import { checks } from './checks';
import { planOf } from './plan';
import { type Question, startPreflight } from './run';

interface PreflightCommandOptions {
  readonly environment: string;
  readonly json?: boolean;
  /** Seconds. */
  readonly timeout: number;
  readonly without?: readonly string[];
}

const help = `
It asks with the credentials that deploy, by calls that only read, for each stack of the environment in its region.
The account is that of WALLET_…_ACCOUNT, as for the deployment. A check that may not be asked or brings no answer is
"not asked", and no failure; the permissions that it needs are in docs/command-line.md.

Checks: ${checks.map(({ id }) => id).join(', ')}.

Exit codes: 0 nothing failed, 1 a check failed, or AWS answered no call at all, 2 used wrongly.

Examples:
  wallet preflight --environment uae
  WALLET_EU_ACCOUNT=123456789012 AWS_PROFILE=wallet-eu wallet preflight --environment eu --json
  wallet preflight --environment eu --without health,kms-keys`;

/** @param variables such as `process.env`: they give the AWS accounts */
export function register(
  program: Command,
  terminal: Terminal,
  variables: Readonly<Record<string, string | undefined>>,
): void {
  program
    .command('preflight')
    .addOption(environmentToWorkOn())
    .option('--json', 'print JSON')
    .addOption(time('--timeout <time>', 'how long a check may take', { usual: '30s', atMost: '5m' }))
    .option('--without <checks>', 'leave checks out, by their names, such as health,kms-keys', checkIds)
    .summary('ask the AWS account whether a deployment can work')
    .description(
      'Asks the AWS account, before a deployment, what CloudFormation would fail on half-way: account, region, roles, quotas, zones, versions.',
    )
    .addHelpText('after', help)
    .action((options: PreflightCommandOptions) => preflight(options, terminal, variables));
}

async function preflight(
  { environment: name, json, timeout, without = [] }: PreflightCommandOptions,
  terminal: Terminal,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const environment = environments.find((candidate) => candidate.name === name);
  if (!environment) throw new UsedWrongly(`There is no environment "${name}".`);
  const account = accountOf(name, variables, terminal);

  terminal.note(`Synthesizing ${name} …`);
  const stacks = await planOf(environment);
  const { questions, reachedAws } = startPreflight({
    environment,
    account,
    stacks,
    deadline: timeout * 1000,
    without,
  });
  const places = stacks.map((stack) => `${stack.name} in ${stack.region}`).join(' and ');
  terminal.note(`Asking AWS about ${places}: ${questions.length} checks, ${timeout} s at most for each …`);

  const answers = await tell(questions, json ? undefined : terminal);
  const count = (outcome: Answer['outcome']) => answers.filter((answer) => answer.outcome === outcome).length;
  const passed = count('failed') === 0 && reachedAws();
  if (json) {
    const told = questions.map(({ check: { id, title }, stack }, index) => ({
      id,
      title,
      stack: stack?.name ?? null,
      region: stack?.region ?? null,
      remedy: null,
      ...answers[index],
    }));
    terminal.result(JSON.stringify({ environment: name, account: account ?? null, passed, checks: told }));
  }
  const summary = `${name}: ${count('ok')} ok, ${count('warning')} warnings, ${count('failed')} failed, ${count('not asked')} not asked.`;
  if (!reachedAws()) throw new CommandFailed(`${summary} AWS answered no call.`, 'Check the network.');
  if (!passed) throw new CommandFailed(summary);
  terminal.note(summary);
}

/** A line for each check, in order, as soon as it and those before it are answered. */
async function tell(
  questions: readonly Question[],
  terminal: Terminal | undefined,
): Promise<readonly Answer[]> {
  const width = (texts: readonly string[]) => Math.max(...texts.map(({ length }) => length));
  const stackWidth = width(['account', ...questions.map(({ stack }) => stack?.name ?? '')]);
  const titleWidth = width(questions.map(({ check }) => check.title));
  const row = (result: string, stack: string, check: string, found: string) =>
    `${result.padEnd(9)}  ${stack.padEnd(stackWidth)}  ${check.padEnd(titleWidth)}  ${found}`;

  terminal?.result(terminal.bold(row('RESULT', 'STACK', 'CHECK', 'FOUND')));
  const answers: Answer[] = [];
  for (const { check, stack, answer: pending } of questions) {
    const answer = await pending;
    answers.push(answer);
    const found = 'remedy' in answer ? `${answer.found}. ${answer.remedy}` : answer.found;
    const line = row(answer.outcome, stack?.name ?? 'account', check.title, found);
    terminal?.result(answer.outcome === 'failed' ? terminal.bad(line) : line);
  }
  return answers;
}

function accountOf(
  name: string,
  variables: Readonly<Record<string, string | undefined>>,
  terminal: Terminal,
): string | undefined {
  const names = environments.map((environment) => environment.name);
  const warnings: string[] = [];
  const account = (() => {
    try {
      return readAccounts(names, variables, (warning) => warnings.push(warning))[name];
    } catch (error) {
      throw new UsedWrongly((error as Error).message);
    }
  })();
  // Of which account the credentials are is not known yet: the deployment could refuse what is a warning here.
  if (account === undefined && warnings[0]) throw new UsedWrongly(warnings[0]);
  for (const warning of warnings) terminal.note(`warning: ${warning}`);
  return account;
}

function checkIds(text: string): readonly string[] {
  const ids = text.split(',');
  const unknown = ids.find((id) => !checks.some((check) => check.id === id));
  if (unknown === undefined) return ids;
  throw new InvalidArgumentError(
    `There is no check "${unknown}". Choose of ${checks.map(({ id }) => id).join(', ')}.`,
  );
}
