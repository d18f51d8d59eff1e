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
  /** The stack when planned, and its last change (ISO 8601); null if not deployed. */
  readonly base: { readonly id: string; readonly changed: string } | null;
  readonly changes: readonly ReturnType<typeof readChange>[];
}

const harmful = ['deleted', 'replaced', 'left behind', 'perhaps replaced', 'unknown'] as const;
/** The worst first. `left behind`: retained, but no longer managed by the stack. `unknown`: CloudFormation decides later. */
const effects = [...harmful, 'changed', 'imported', 'added'] as const;

const help = `
Creates a change set from the assembly's template, reads it and deletes it without executing it. Marks stateful
resources (the address, clusters, keys, queues, secrets) that would be lost or replaced.

Exit codes: 0 planned, or unchanged with --verify; 1 failed, or the stack has changed; 2 usage error.`;

export function register(program: Command, terminal: Terminal): void {
  program
    .command('plan')
    .addOption(
      new Option('--stack <name>', 'the stack to plan')
        .choices(allStacks().map(({ stackId }) => stackId))
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--assembly <folder>', 'the output of "npm run synth"')
        .argParser(path)
        .default(resolve(__dirname, '../cdk.out'), 'cdk.out of this project'),
    )
    .option('--write <file>', 'also write the plan as JSON, for --verify', path)
    .option('--verify <file>', 'only check that the stack has not changed since this plan', path)
    .option('--json', 'print JSON')
    .summary('show what a deployment would change or lose')
    .description('Shows what deploying an assembly would change, without deploying it.')
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
    return terminal.result(`${name} has not changed since the plan.`);
  }
  const assembled = readAssembledStack(assembly, name);
  const { deployed, base } = await findBase();
  if (deployed) terminal.note(`Creating a change set for ${name} (${region}) …`);
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
    `${name} has changed since the plan: it was ${format(planned)}, and is now ${format(now)}.`,
    'Plan again and get the new plan approved.',
  );
}

/** Creates a change set, reads it, and deletes it and its template. */
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
  // Omitted: role and notifications keep their values. A template of more than 51,200 bytes must be in S3.
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
      `CloudFormation created no change set for ${changeSet.StackName} within ten minutes.`,
    );
  const { Status, StatusReason = 'no reason given' } = pages[0] ?? {};
  // CloudFormation has no separate status for "no changes".
  if (/didn't contain changes|No updates are to be performed/.test(StatusReason)) return [];
  if (Status !== 'FAILED')
    return pages.flatMap(({ Changes = [] }) => Changes.flatMap(({ ResourceChange }) => ResourceChange ?? []));
  throw new CommandFailed(
    `CloudFormation rejected the change set: ${StatusReason.replace(/\.$/, '')}.`,
    'Fix the template: a deployment would fail too.',
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
    /** For a stateful resource: the loss, and what to do instead. */
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

/** For the approver: losses first, then every change. */
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
      `> **\`${logicalId}\` (${type}) is stateful and would be ${effect}.** ${warning}`,
      '',
    ]),
    base ? `The stack was last changed at ${base.changed}.` : 'The stack is new.',
    '',
    counts.length > 0 ? `${counts.join(', ')}.` : 'No changes.',
    ...(base && rows.length > 0
      ? ['', '| Effect | Resource | Type | Details |', '|---|---|---|---|', ...rows]
      : []),
  ].join('\n');
}

/** Template values may contain any text. */
const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
