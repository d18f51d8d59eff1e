import { readFileSync, writeFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { TableStack } from '../../lib/environment/stacks';
import { CommandFailed } from '../failure';
import { interval, path } from '../options';
import type { Terminal } from '../terminal';
import { readAssembledStack } from './assembly';
import { askForChanges } from './change-set';
import { additionsOf, type Base, type Plan, readChanges } from './changes';
import { allStacks, describeDeployed, openStack, type StackApi } from './deployed-stack';
import { inMarkdown } from './plan-report';
import { writeNamed } from './written-file';

interface PlanOptions {
  readonly stack: string;
  readonly assembly: string;
  readonly write?: string;
  readonly verify?: string;
  readonly json?: boolean;
  /** Seconds. */
  readonly interval: number;
}

const help = `
It makes a change set of the assembly's template, reads and deletes it, and executes nothing. Of what holds state
(the address, clusters, keys, queues, secrets) it marks what would not stay as it is.

It needs cloudformation:DescribeStacks, CreateChangeSet, DescribeChangeSet and DeleteChangeSet on the stack, s3:PutObject,
GetObject and DeleteObject in wallet-plan/ of the CDK's bucket, and ssm:GetParameters of the CDK's version. With --verify,
cloudformation:DescribeStacks alone.

Exit codes: 0 planned, or unchanged with --verify; 1 it failed, or the stack has changed; 2 used wrongly.

Examples:
  wallet plan --stack WalletUae
  wallet plan --stack WalletEu --assembly cdk.out --write plan.json
  wallet plan --stack WalletEu --verify plan.json            before the assembly of that plan is deployed`;

export function register(program: Command, terminal: Terminal): void {
  program
    .command('plan')
    .addOption(
      new Option('--stack <name>', 'the stack to plan')
        .choices(allStacks().map(({ stackId }) => stackId))
        .makeOptionMandatory(),
    )
    .option('--assembly <folder>', 'what "npm run synth" wrote', path, 'cdk.out')
    .option('--write <file>', 'also write the plan as JSON, for --verify', path)
    .option('--verify <file>', 'plan nothing: tell whether the stack is still as that plan found it', path)
    .option('--json', 'print JSON')
    .addOption(interval())
    .summary('tell what a deployment would change, and what it would lose')
    .description(
      'Has CloudFormation tell what the deployment of an assembly would change, and executes nothing.',
    )
    .addHelpText('after', help)
    .action((options: PlanOptions) => plan(options, terminal));
}

async function plan(options: PlanOptions, terminal: Terminal): Promise<void> {
  const stack = allStacks().find(({ stackId }) => stackId === options.stack) as TableStack;
  const api = await openStack(stack);
  if (options.verify !== undefined) return verify(api, options.verify, terminal);
  const planned = await makePlan(api, options, terminal);
  const { write: file } = options;
  if (file !== undefined)
    writeNamed(file, () => writeFileSync(file, `${JSON.stringify(planned, undefined, 2)}\n`));
  terminal.result(options.json ? JSON.stringify(planned) : inMarkdown(planned));
}

async function makePlan(
  api: StackApi,
  { assembly, interval: seconds }: PlanOptions,
  terminal: Terminal,
): Promise<Plan> {
  const { stackId: stack, region } = api;
  const assembled = readAssembledStack(assembly, stack);
  const deployed = await describeDeployed(api);
  if (deployed === undefined)
    return { stack, region, base: null, changes: additionsOf(JSON.parse(assembled.template)) };
  terminal.note(`Asking CloudFormation what would change in ${stack} (${region}) …`);
  const changes = readChanges(await askForChanges(api, deployed, assembled, seconds * 1000));
  return { stack, region, base: baseOf(deployed), changes };
}

function baseOf(deployed: Awaited<ReturnType<typeof describeDeployed>>): Base | null {
  if (deployed === undefined) return null;
  const { StackId = '', LastUpdatedTime, CreationTime } = deployed;
  return { id: StackId, changed: (LastUpdatedTime ?? CreationTime ?? new Date(0)).toISOString() };
}

async function verify(api: StackApi, file: string, terminal: Terminal): Promise<void> {
  const { stack, base } = readPlan(file);
  if (stack !== api.stackId)
    throw new CommandFailed(`${file} is a plan of ${stack}.`, `Give the plan of ${api.stackId}.`);
  const now = baseOf(await describeDeployed(api));
  if (now?.id === base?.id && now?.changed === base?.changed)
    return terminal.result(`${stack} is as the plan found it.`);
  const told = (state: Base | null) => (state ? `last changed at ${state.changed}` : 'not deployed');
  throw new CommandFailed(
    `${stack} was ${told(base)} when it was planned, and is ${told(now)}${now && base && now.id !== base.id ? ', as another stack' : ''}.`,
    'Plan again, and have the new plan approved.',
  );
}

function readPlan(file: string): Pick<Plan, 'stack' | 'base'> {
  try {
    const plan = JSON.parse(readFileSync(file, 'utf8'));
    if (plan?.stack === undefined || plan.base === undefined) throw new Error('it is no plan');
    return plan;
  } catch (error) {
    throw new CommandFailed(
      `${file} cannot be read: ${(error as Error).message}.`,
      'Give the file that "wallet plan --write" wrote.',
    );
  }
}
