import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { CloudFormation, ResourceChange, Stack } from '@aws-sdk/client-cloudformation';
import { type Command, Option } from 'commander';
import { planFolder, planPrefix } from '../domain/workflow-roles';
import { type AssembledStack, readAssembledStack } from './assembly';
import { ask, callAws, clientSettings, collect } from './aws';
import { allStacks, findDeployed, openCloudFormation } from './deployed-stack';
import { CommandFailed } from './failure';
import { readJson, writeJson } from './json';
import { path } from './options';
import { poll } from './poll';
import { statefulTypes } from './stateful-types';
import type { Terminal } from './terminal';

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
  /** The stack that was planned for, last changed at an ISO 8601 time; null if there was none. */
  readonly base: { readonly id: string; readonly changed: string } | null;
  readonly changes: readonly ReturnType<typeof readChange>[];
}

const harmful = ['deleted', 'replaced', 'left behind', 'perhaps replaced', 'unknown'] as const;
/** The worst first. `left behind`: remains in the account, outside the stack. `unknown`: CloudFormation decides later. */
const effects = [...harmful, 'changed', 'imported', 'added'] as const;

const help = `
It creates a change set of the assembly's template, reads and deletes it, and executes nothing. It marks resources
that hold state (the address, clusters, keys, queues, secrets) and would be lost or replaced.

Exit codes: 0 planned, or unchanged with --verify; 1 it failed, or the stack has changed; 2 used wrongly.`;

export function register(program: Command, terminal: Terminal): void {
  program
    .command('plan')
    .addOption(
      new Option('--stack <name>', 'the stack to plan')
        .choices(allStacks().map(({ stackId }) => stackId))
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--assembly <folder>', 'what "npm run synth" wrote')
        .argParser(path)
        .default(resolve(__dirname, '../cdk.out'), 'cdk.out of this project'),
    )
    .option('--write <file>', 'also write the plan as JSON, for --verify', path)
    .option('--verify <file>', 'plan nothing: check that the stack has not changed since that plan', path)
    .option('--json', 'print JSON')
    .summary('show what a deployment would change, and what it would lose')
    .description('Shows what the deployment of an assembly would change, without deploying.')
    .addHelpText('after', help)
    .action((options: PlanOptions) => plan(options, terminal));
}

async function plan({ stack: name, assembly, write, verify, json }: PlanOptions, terminal: Terminal) {
  const region = allStacks().find(({ stackId }) => stackId === name)?.region ?? '';
  const cloudFormation = await openCloudFormation(region);
  const findBase = async () => {
    const deployed = await findDeployed(cloudFormation, name);
    const changed = deployed?.LastUpdatedTime ?? deployed?.CreationTime ?? new Date(0);
    const base = deployed ? { id: deployed.StackId ?? '', changed: changed.toISOString() } : null;
    return { deployed, base };
  };
  if (verify !== undefined) {
    const remedy = `Give the file that "wallet plan --stack ${name} --write" wrote.`;
    const planned: Partial<Plan> = Object(readJson(verify, remedy));
    if (planned.stack !== name || planned.base === undefined)
      throw new CommandFailed(`${verify} is not a plan of ${name}.`, remedy);
    requireSame(name, planned.base, (await findBase()).base);
    return terminal.result(`${name} is unchanged since it was planned.`);
  }
  const assembled = readAssembledStack(assembly, name);
  const { deployed, base } = await findBase();
  if (deployed) terminal.note(`Asking CloudFormation what would change in ${name} (${region}) …`);
  const changes: readonly ResourceChange[] = deployed
    ? await createChangeSet(cloudFormation, deployed, assembled)
    : Object.entries(assembled.template.Resources).map(([LogicalResourceId, { Type }]) => ({
        Action: 'Add',
        LogicalResourceId,
        ResourceType: Type,
      }));
  const planned: Plan = { stack: name, region, base, changes: changes.map(readChange) };
  if (write !== undefined) writeJson(write, planned);
  terminal.result(json ? JSON.stringify(planned) : formatMarkdown(planned));
}

function requireSame(name: string, planned: Plan['base'], now: Plan['base']): void {
  if (now?.id === planned?.id && now?.changed === planned?.changed) return;
  const format = (base: Plan['base']) =>
    base ? `${base.id}, last changed at ${base.changed}` : 'not deployed';
  throw new CommandFailed(
    `${name} has changed since it was planned: it was ${format(planned)}, and is ${format(now)}.`,
    'Plan again, and have the new plan approved.',
  );
}

/** Reads the changes of a change set that is deleted afterwards, together with its template. */
async function createChangeSet(
  cloudFormation: CloudFormation,
  deployed: Stack,
  { name: StackName, region, bucket, template, tags }: AssembledStack,
): Promise<readonly ResourceChange[]> {
  const { S3 } = await import('@aws-sdk/client-s3');
  const s3 = new S3(clientSettings(region));
  const account = deployed.StackId?.split(':')[4] ?? '';
  const ChangeSetName = `${planPrefix}${randomUUID()}`;
  const Bucket = bucket.replace(/\$\{AWS::AccountId\}/, account);
  const object = { Bucket, Key: `${planFolder}/${ChangeSetName}.json`, ExpectedBucketOwner: account };
  // Role and notifications keep their values because they are left out. A template of more than 51,200 bytes has to be in S3.
  const request = {
    StackName,
    ChangeSetName,
    ClientToken: ChangeSetName,
    TemplateURL: `https://${Bucket}.s3.${region}.amazonaws.com/${object.Key}`,
    Parameters: deployed.Parameters?.filter(({ ParameterKey = '' }) =>
      Object.hasOwn(template.Parameters ?? {}, ParameterKey),
    ).map(({ ParameterKey }) => ({ ParameterKey, UsePreviousValue: true })),
    Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
    Capabilities: ['CAPABILITY_IAM' as const, 'CAPABILITY_NAMED_IAM' as const],
  };

  await ask(s3, 'putObject', { ...object, Body: JSON.stringify(template) });
  try {
    await ask(cloudFormation, 'createChangeSet', request);
    try {
      return await readChangeSet(cloudFormation, { StackName, ChangeSetName });
    } finally {
      await ask(cloudFormation, 'deleteChangeSet', { StackName, ChangeSetName });
    }
  } finally {
    await ask(s3, 'deleteObject', object);
  }
}

async function readChangeSet(
  client: CloudFormation,
  changeSet: { readonly StackName: string; readonly ChangeSetName: string },
): Promise<readonly ResourceChange[]> {
  const { paginateDescribeChangeSet } = await import('@aws-sdk/client-cloudformation');
  const input = { ...changeSet, IncludePropertyValues: true };
  const ask = async () => {
    const pages = await callAws(undefined, 'cloudformation:DescribeChangeSet', (options) =>
      collect(paginateDescribeChangeSet({ client }, input, options), (page) => [page]),
    );
    return /^(CREATE_COMPLETE|FAILED)$/.test(pages[0]?.Status ?? '') ? pages : undefined;
  };
  const pages = await poll(ask, { seconds: 600, every: 2_000 });
  if (!pages)
    throw new CommandFailed(
      `CloudFormation made no change set of ${changeSet.StackName} within ten minutes.`,
    );
  const { Status, StatusReason = 'no reason is given' } = pages[0] ?? {};
  // CloudFormation has no status of its own for "nothing changes".
  if (/didn't contain changes|No updates are to be performed/.test(StatusReason)) return [];
  if (Status !== 'FAILED')
    return pages.flatMap(({ Changes = [] }) => Changes.flatMap(({ ResourceChange }) => ResourceChange ?? []));
  throw new CommandFailed(
    `CloudFormation refuses the change set: ${StatusReason.replace(/\.$/, '')}.`,
    'Correct the template: a deployment would fail too.',
  );
}

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ResourceChange.html */
function readChange(change: ResourceChange) {
  const { LogicalResourceId: logicalId = '', ResourceType: type = '', Details = [] } = change;
  const effect = effectOf(change);
  return {
    logicalId,
    type,
    effect,
    details: [...new Set(Details.map(formatDetail))],
    /** For a resource that holds state: the loss, and what to do instead. */
    warning: harmful.some((each) => each === effect) ? statefulTypes[type]?.remedy : undefined,
  };
}

function effectOf({ Action, Replacement, PolicyAction }: ResourceChange): (typeof effects)[number] {
  if (Action === 'Add') return 'added';
  if (Action === 'Import') return 'imported';
  if (Action === 'Remove') return PolicyAction === 'Retain' ? 'left behind' : 'deleted';
  if (Action !== 'Modify') return 'unknown';
  if (Replacement === 'True') return 'replaced';
  return Replacement === 'Conditional' ? 'perhaps replaced' : 'changed';
}

function formatDetail({ Target, CausingEntity }: NonNullable<ResourceChange['Details']>[number]): string {
  const { Attribute, Name, Path, BeforeValue: before, AfterValue: after, RequiresRecreation } = Target ?? {};
  const property = Path ?? [Attribute, Name].filter(Boolean).join('/');
  const shorten = (value = 'nothing') => (value.length > 80 ? `${value.slice(0, 80)}…` : value);
  const values = before || after ? `: ${shorten(before)} → ${shorten(after)}` : '';
  const cause = CausingEntity ? `, by ${CausingEntity}` : '';
  const replaces = RequiresRecreation && RequiresRecreation !== 'Never' ? ', which replaces it' : '';
  return `${property}${values}${cause}${replaces}`;
}

/** For the approver: what would be lost, then every change. */
function formatMarkdown({ stack, region, base, changes }: Plan): string {
  const sorted = effects.flatMap((effect) => changes.filter((change) => change.effect === effect));
  const warnings = changes.filter(({ warning }) => warning !== undefined);
  const counts = effects.flatMap((effect) => {
    const count = changes.filter((change) => change.effect === effect).length;
    return count > 0 ? `${count} ${effect}` : [];
  });
  const rows = sorted.map(
    ({ effect, logicalId, type, details }) =>
      `| ${effect} | \`${logicalId}\` | ${type} | ${details.map(escapeHtml).join('<br>')} |`,
  );
  return [
    `## Plan of ${stack} (${region})`,
    '',
    ...warnings.flatMap(({ logicalId, type, effect, warning }) => [
      '> [!CAUTION]',
      `> **\`${logicalId}\` (${type}) holds state and would be ${effect}.** ${warning}`,
      '',
    ]),
    base ? `The stack was last changed at ${base.changed}.` : 'A new stack.',
    '',
    counts.length > 0 ? `${counts.join(', ')}.` : 'Nothing changes.',
    ...(base && rows.length > 0
      ? ['', '| Effect | Resource | Type | What |', '|---|---|---|---|', ...rows]
      : []),
  ].join('\n');
}

/** Values of a template may hold anything. */
const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
