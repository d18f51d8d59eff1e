import type { Command } from 'commander';
import { stacksOf, type TableStack } from '../../lib/environment/stacks';
import { environments } from '../../lib/environments';
import { CommandFailed } from '../failure';
import { environmentToWorkOn, interval, time } from '../options';
import type { Terminal } from '../terminal';
import { openStack, requireDeployed } from './deployed-stack';
import { type DetectOptions, type Difference, detectDrift, differencesOf } from './drift-detection';

interface DriftOptions extends DetectOptions {
  readonly environment: string;
  readonly json?: boolean;
}

interface Comparison {
  readonly found: readonly Difference[];
  readonly failure: CommandFailed | undefined;
}

const help = `
CloudFormation compares what the template says with what the account has, with the rights of the caller:
cloudformation:DescribeStacks, DetectStackDrift, DetectStackResourceDrift, DescribeStackDriftDetectionStatus,
DescribeStackResourceDrifts, and reading every resource, as the CDK's lookup role may. Nothing is changed.

Exit codes: 0 no drift, 1 drift, or CloudFormation could not find out, 2 used wrongly.

Examples:
  wallet drift --environment eu
  wallet drift --environment uae --json`;

export function register(program: Command, terminal: Terminal): void {
  program
    .command('drift')
    .addOption(environmentToWorkOn())
    .option('--json', 'print JSON')
    .addOption(
      time('--timeout <time>', 'how long the comparison of a stack may take', { usual: '15m', atMost: '1h' }),
    )
    .addOption(interval())
    .summary('compare the deployed stacks with their templates')
    .description('Looks for what was changed past CloudFormation in the stacks of an environment.')
    .addHelpText('after', help)
    .action((options: DriftOptions) => drift(options, terminal));
}

async function drift(options: DriftOptions, terminal: Terminal): Promise<void> {
  const stacks = environments.filter(({ name }) => name === options.environment).flatMap(stacksOf);
  const results = await Promise.all(stacks.map((stack) => compare(stack, options, terminal)));
  const found = results.flatMap((result) => result.found);
  const failures = results.flatMap(({ failure }) => failure ?? []);
  const compared = stacks.length - failures.length;
  if (options.json) terminal.result(JSON.stringify(found));
  else if (found.length > 0 || compared > 0) terminal.result(inWords(found, compared));
  for (const { message } of failures) terminal.note(terminal.alarm(`error: ${message}`));
  if (failures.length > 0) throw new CommandFailed('Not every stack could be compared.', failures[0]?.remedy);
  if (found.length === 0) return;
  throw new CommandFailed(
    `${found.length} properties of ${options.environment} differ from the template.`,
    'Take the change back in the account, or put it into the template and deploy.',
  );
}

/** A failure hides nothing that was found, in this stack or in another. */
async function compare(stack: TableStack, options: DriftOptions, terminal: Terminal): Promise<Comparison> {
  try {
    const api = await openStack(stack);
    await requireDeployed(api);
    terminal.note(`Comparing ${stack.stackId} in ${stack.region} …`);
    const failure = await detectDrift(api, options);
    return { found: await differencesOf(api), failure };
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    return { found: [], failure: error };
  }
}

function inWords(found: readonly Difference[], compared: number): string {
  if (found.length === 0) return `No drift in ${compared} ${compared === 1 ? 'stack' : 'stacks'}.`;
  return found
    .map(
      ({ stack, logicalId, type, property, expected, actual }) =>
        `${stack} ${logicalId} (${type})${property}: expected ${expected}, is ${actual}`,
    )
    .join('\n');
}
