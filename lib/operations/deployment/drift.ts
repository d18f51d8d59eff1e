import { setTimeout as pause } from 'node:timers/promises';
import type { StackResourceDrift, StackResourceDriftStatus } from '@aws-sdk/client-cloudformation';
import type { Command } from 'commander';
import { stacksOf, type TableStack } from '../../environment/stacks';
import { environments } from '../../environments';
import { callAws, required } from '../aws';
import { CommandFailed } from '../failure';
import { environmentToWorkOn, interval, time } from '../options';
import { collect } from '../pages';
import type { Terminal } from '../terminal';
import { openStack, requireDeployed, type StackApi } from './deployed-stack';

interface DriftOptions {
  readonly environment: string;
  readonly json?: boolean;
  /** Seconds. */
  readonly timeout: number;
  /** Seconds. */
  readonly interval: number;
}

interface Comparison {
  readonly found: readonly Difference[];
  readonly failure: CommandFailed | undefined;
}

/** One property that differs, or the resource as a whole when it is gone or CloudFormation could not compare it. */
interface Difference {
  readonly stack: string;
  readonly logicalId: string;
  readonly type: string;
  /** CloudFormation's JSON pointer; empty for the resource as a whole. */
  readonly property: string;
  readonly expected: string;
  readonly actual: string;
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
    const failure = await detect(api, options);
    return { found: await differencesOf(api), failure };
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    return { found: [], failure: error };
  }
}

/**
 * @returns what kept CloudFormation from comparing every resource; the results of the others are there
 * (https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStackDriftDetectionStatus.html)
 */
async function detect(
  api: StackApi,
  { timeout, interval: seconds }: DriftOptions,
): Promise<CommandFailed | undefined> {
  const { DescribeStackDriftDetectionStatusCommand, DetectStackDriftCommand } = await import(
    '@aws-sdk/client-cloudformation'
  );
  const { cloudFormation, stackId } = api;
  const action = 'cloudformation:DetectStackDrift';
  const { StackDriftDetectionId: id } = await callAws(api, action, (call) =>
    cloudFormation.send(new DetectStackDriftCommand({ StackName: stackId }), call),
  );
  const request = new DescribeStackDriftDetectionStatusCommand({
    StackDriftDetectionId: required(action, 'StackDriftDetectionId', id),
  });
  for (const giveUp = Date.now() + timeout * 1000; Date.now() < giveUp; await pause(seconds * 1000)) {
    const { DetectionStatus, DetectionStatusReason } = await callAws(
      api,
      'cloudformation:DescribeStackDriftDetectionStatus',
      (call) => cloudFormation.send(request, call),
    );
    if (DetectionStatus === 'DETECTION_COMPLETE') return undefined;
    if (DetectionStatus === 'DETECTION_FAILED')
      return new CommandFailed(
        `CloudFormation could not compare all of ${stackId}: ${DetectionStatusReason ?? 'no reason is given'}.`,
        'The caller needs to read every resource of the stack.',
      );
  }
  throw new CommandFailed(
    `The comparison of ${stackId} still runs after ${timeout / 60} minutes.`,
    'Run it again with a longer --timeout.',
  );
}

async function differencesOf(api: StackApi): Promise<readonly Difference[]> {
  const { paginateDescribeStackResourceDrifts } = await import('@aws-sdk/client-cloudformation');
  const drifted: StackResourceDriftStatus[] = ['MODIFIED', 'DELETED', 'UNKNOWN'];
  const query = { StackName: api.stackId, StackResourceDriftStatusFilters: drifted };
  const drifts = await callAws(api, 'cloudformation:DescribeStackResourceDrifts', (call) =>
    collect(
      paginateDescribeStackResourceDrifts({ client: api.cloudFormation }, query, call),
      (page) => page.StackResourceDrifts,
    ),
  );
  return drifts.flatMap((resource) => differencesIn(api.stackId, resource));
}

function differencesIn(stack: string, drifted: StackResourceDrift): readonly Difference[] {
  const { LogicalResourceId: logicalId = '', ResourceType: type = '', PropertyDifferences = [] } = drifted;
  const whole = { stack, logicalId, type, property: '', expected: 'as in the template' };
  const { StackResourceDriftStatus: status, DriftStatusReason: reason = 'no reason is given' } = drifted;
  if (status === 'DELETED') return [{ ...whole, actual: 'deleted' }];
  if (status === 'UNKNOWN') return [{ ...whole, actual: `unknown (${reason})` }];
  if (PropertyDifferences.length === 0) return [{ ...whole, actual: 'modified' }];
  return PropertyDifferences.map(({ PropertyPath = '', ExpectedValue = '', ActualValue = '' }) => ({
    stack,
    logicalId,
    type,
    property: PropertyPath,
    expected: ExpectedValue,
    actual: ActualValue,
  }));
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
