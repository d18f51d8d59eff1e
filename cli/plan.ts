import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Change, ResourceChange, Stack } from '@aws-sdk/client-cloudformation';
import { type Command, Option } from 'commander';
import { statefulTypes } from '../domain/stateful-types';
import { planFolder, planPrefix } from '../domain/workflow-roles';
import type { TableStack } from '../lib/environments';
import { type AssembledStack, readAssembledStack } from './assembly';
import { callAws } from './aws';
import { allStacks, collect, describeDeployed, openStack, type StackApi } from './deployed-stack';
import { CommandFailed } from './failure';
import { path } from './options';
import { poll } from './poll';
import { clientSettings } from './target';
import type { Terminal } from './terminal';
import { writeNamed } from './written-file';

interface PlanOptions {
  readonly stack: string;
  readonly assembly: string;
  readonly write?: string;
  readonly verify?: string;
  readonly json?: boolean;
}

interface Plan {
  readonly stack: string;
  readonly region: string;
  /** The stack as it was when the plan was made, last changed at an ISO 8601 time; null: it was not there. */
  readonly base: { readonly id: string; readonly changed: string } | null;
  readonly changes: readonly PlannedChange[];
}

/** What CloudFormation would do to one resource. */
interface PlannedChange {
  readonly logicalId: string;
  readonly type: string;
  readonly effect: (typeof effects)[number];
  /** What changes, a line each. */
  readonly details: readonly string[];
  /** What it would cost and what to do instead, for what holds state and would not stay as it is. */
  readonly warning: string | undefined;
}

/**
 * The worst first. `left behind` stays in the account and is the stack's no more; `unknown` is what CloudFormation cannot tell
 * before it does it.
 */
const effects = [
  'deleted',
  'replaced',
  'left behind',
  'perhaps replaced',
  'unknown',
  'changed',
  'imported',
  'added',
] as const;
const harmless = ['changed', 'imported', 'added'];

const help = `
It makes a change set of the assembly's template, reads and deletes it, and executes nothing. Of what holds state
(the address, clusters, keys, queues, secrets) it marks what would not stay as it is.

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
    .summary('tell what a deployment would change, and what it would lose')
    .description('Shows what the deployment of an assembly would change, without deploying.')
    .addHelpText('after', help)
    .action((options: PlanOptions) => plan(options, terminal));
}

async function plan({ stack: name, assembly, write, verify, json }: PlanOptions, terminal: Terminal) {
  const stack = allStacks().find(({ stackId }) => stackId === name) as TableStack;
  const api = await openStack(stack);
  if (verify !== undefined) return verifyPlan(api, verify, terminal);
  const assembled = readAssembledStack(assembly, name);
  const deployed = await describeDeployed(api);
  if (deployed) terminal.note(`Asking CloudFormation what would change in ${name} (${stack.region}) …`);
  const changes = deployed
    ? await askForChanges(api, deployed, assembled)
    : Object.entries(assembled.template.Resources).map(([LogicalResourceId, { Type }]) =>
        readChange({ Action: 'Add', LogicalResourceId, ResourceType: Type }),
      );
  const planned: Plan = { stack: name, region: stack.region, base: baseOf(deployed), changes };
  if (write !== undefined) writeNamed(write, planned);
  terminal.result(json ? JSON.stringify(planned) : inMarkdown(planned));
}

function baseOf(deployed: Stack | undefined): Plan['base'] {
  if (deployed === undefined) return null;
  const { StackId = '', LastUpdatedTime, CreationTime } = deployed;
  return { id: StackId, changed: (LastUpdatedTime ?? CreationTime ?? new Date(0)).toISOString() };
}

async function verifyPlan(api: StackApi, file: string, terminal: Terminal): Promise<void> {
  const { stack, base } = readPlan(file);
  if (stack !== api.stackId)
    throw new CommandFailed(`${file} is a plan of ${stack}.`, `Give the plan of ${api.stackId}.`);
  const now = baseOf(await describeDeployed(api));
  if (now?.id === base?.id && now?.changed === base?.changed)
    return terminal.result(`${stack} is as the plan found it.`);
  const told = (state: Plan['base']) => (state ? `last changed at ${state.changed}` : 'not deployed');
  const isOther = now && base && now.id !== base.id;
  throw new CommandFailed(
    `${stack} was ${told(base)} when it was planned, and is ${told(now)}${isOther ? ', as another stack' : ''}.`,
    'Plan again, and have the new plan approved.',
  );
}

function readPlan(file: string): Plan {
  try {
    const content = JSON.parse(readFileSync(file, 'utf8'));
    if (content?.stack !== undefined && content.base !== undefined) return content;
    throw new Error('it is no plan');
  } catch (error) {
    throw new CommandFailed(
      `${file} cannot be read: ${(error as Error).message}.`,
      'Give the file that "wallet plan --write" wrote.',
    );
  }
}

/** Makes a change set, reads it, and deletes it with its template: nothing is executed. */
async function askForChanges(
  api: StackApi,
  deployed: Stack,
  { bucket, template, tags }: AssembledStack,
): Promise<readonly PlannedChange[]> {
  const { CreateChangeSetCommand, DeleteChangeSetCommand } = await import('@aws-sdk/client-cloudformation');
  const { DeleteObjectCommand, PutObjectCommand, S3Client } = await import('@aws-sdk/client-s3');
  // S3 answers without a body, which the collector of the other services takes for a foreign answer.
  const { streamCollector: _, ...settings } = clientSettings(api.region);
  const s3 = new S3Client(settings);
  const { cloudFormation, stackId: StackName } = api;
  const account = deployed.StackId?.split(':')[4] ?? '';
  const ChangeSetName = `${planPrefix}${randomUUID()}`;
  // Without an account, the CDK leaves it to the credentials.
  const Bucket = bucket.replace(/\$\{AWS::AccountId\}/, account);
  const object = { Bucket, Key: `${planFolder}/${ChangeSetName}.json`, ExpectedBucketOwner: account };

  // A template of more than 51,200 bytes has to come from S3.
  await callAws(api, 's3:PutObject', (options) =>
    s3.send(new PutObjectCommand({ ...object, Body: JSON.stringify(template) }), options),
  );
  try {
    // Role and notifications stay because they are left out; of the parameters, those that the stack has.
    const request = new CreateChangeSetCommand({
      StackName,
      ChangeSetName,
      ClientToken: ChangeSetName,
      TemplateURL: `https://${Bucket}.s3.${api.region}.amazonaws.com/${object.Key}`,
      Parameters: deployed.Parameters?.filter(({ ParameterKey = '' }) =>
        Object.hasOwn(template.Parameters ?? {}, ParameterKey),
      ).map(({ ParameterKey }) => ({ ParameterKey, UsePreviousValue: true })),
      Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
      Capabilities: ['CAPABILITY_IAM', 'CAPABILITY_NAMED_IAM'],
    });
    await callAws(api, 'cloudformation:CreateChangeSet', (options) => cloudFormation.send(request, options));
    try {
      return (await readChangeSet(api, ChangeSetName)).flatMap(({ ResourceChange: change }) =>
        change ? [readChange(change)] : [],
      );
    } finally {
      await callAws(api, 'cloudformation:DeleteChangeSet', (options) =>
        cloudFormation.send(new DeleteChangeSetCommand({ StackName, ChangeSetName }), options),
      );
    }
  } finally {
    await callAws(api, 's3:DeleteObject', (options) => s3.send(new DeleteObjectCommand(object), options));
  }
}

async function readChangeSet(api: StackApi, ChangeSetName: string): Promise<readonly Change[]> {
  const { paginateDescribeChangeSet } = await import('@aws-sdk/client-cloudformation');
  const { cloudFormation: client, stackId: StackName } = api;
  const input = { StackName, ChangeSetName, IncludePropertyValues: true };
  const read = () =>
    callAws(api, 'cloudformation:DescribeChangeSet', (options) =>
      collect(paginateDescribeChangeSet({ client }, input, options), (page) => [page]),
    );
  // CloudFormation takes seconds for one.
  const pages = await poll(
    async () => {
      const answer = await read();
      return /^(CREATE_COMPLETE|FAILED)$/.test(answer[0]?.Status ?? '') ? answer : undefined;
    },
    { seconds: 600, every: 2_000 },
  );
  if (!pages)
    throw new CommandFailed(
      `CloudFormation made no change set of ${StackName} within ten minutes.`,
      'Try again, and look at the AWS Health Dashboard.',
    );
  const { Status, StatusReason = 'no reason is given' } = pages[0] ?? {};
  // Only the words tell "nothing changes" from other failures: CloudFormation has no status for it.
  if (/didn't contain changes|No updates are to be performed/.test(StatusReason)) return [];
  if (Status !== 'FAILED') return pages.flatMap(({ Changes = [] }) => Changes);
  throw new CommandFailed(
    `CloudFormation refuses the change set: ${StatusReason.replace(/\.$/, '')}.`,
    'Correct the template: a deployment would fail alike.',
  );
}

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ResourceChange.html */
function readChange(change: ResourceChange): PlannedChange {
  const { LogicalResourceId: logicalId = '', ResourceType: type = '', Details = [] } = change;
  const effect = effectOf(change);
  return {
    logicalId,
    type,
    effect,
    details: [...new Set(Details.map(describeDetail))],
    warning: harmless.includes(effect) ? undefined : statefulTypes[type]?.remedy,
  };
}

function effectOf({ Action, Replacement, PolicyAction }: ResourceChange): PlannedChange['effect'] {
  if (Action === 'Add') return 'added';
  if (Action === 'Import') return 'imported';
  if (Action === 'Remove') return PolicyAction === 'Retain' ? 'left behind' : 'deleted';
  if (Action !== 'Modify') return 'unknown';
  if (Replacement === 'True') return 'replaced';
  return Replacement === 'Conditional' ? 'perhaps replaced' : 'changed';
}

function describeDetail({ Target, CausingEntity }: NonNullable<ResourceChange['Details']>[number]): string {
  const { Attribute, Name, Path, BeforeValue: before, AfterValue: after, RequiresRecreation } = Target ?? {};
  const place = Path ?? [Attribute, Name].filter(Boolean).join('/');
  const shown = (value = 'nothing') => (value.length > 80 ? `${value.slice(0, 80)}…` : value);
  const values = before === undefined && after === undefined ? '' : `: ${shown(before)} → ${shown(after)}`;
  const cause = CausingEntity ? `, by ${CausingEntity}` : '';
  const recreation = RequiresRecreation && RequiresRecreation !== 'Never' ? ', which replaces it' : '';
  return `${place}${values}${cause}${recreation}`;
}

/** For the person who approves it: what would be lost, then every change. */
function inMarkdown({ stack, region, base, changes }: Plan): string {
  const lost = changes.filter(({ warning }) => warning !== undefined);
  const ordered = effects.map((effect) => changes.filter((change) => change.effect === effect));
  const counts = ordered.flatMap(([first, ...others]) =>
    first ? `${others.length + 1} ${first.effect}` : [],
  );
  const rows = ordered
    .flat()
    .map(
      ({ effect, logicalId, type, details }) =>
        `| ${effect} | \`${logicalId}\` | ${type} | ${details.map(escaped).join('<br>')} |`,
    );
  return [
    `## Plan of ${stack} (${region})`,
    '',
    ...lost.flatMap(({ logicalId, type, effect, details, warning }) => [
      '> [!CAUTION]',
      `> **\`${logicalId}\` (${type}) holds state and would be ${effect}.** ${warning}`,
      ...details.map((detail) => `> - ${escaped(detail)}`),
      '',
    ]),
    base === null ? 'A new stack.' : `The stack was last changed at ${base.changed}.`,
    '',
    changes.length === 0 ? 'Nothing changes.' : `${counts.join(', ')}.`,
    ...(base === null || changes.length === 0
      ? []
      : ['', '| Effect | Resource | Type | What |', '|---|---|---|---|', ...rows]),
  ].join('\n');
}

/** Values of a template may hold anything. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
