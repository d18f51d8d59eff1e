import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { CloudFormation, ResourceChange, Stack } from '@aws-sdk/client-cloudformation';
import type { Command } from 'commander';
import type { AssembledStack, Template } from '../../domain/assembly';
import { planFolder, planPrefix } from '../../domain/workflow-roles';
import { stackNamed, type TableStack } from '../../lib/environments';
import { callAws, callAwsPages, clientSettings } from '../shell/aws';
import { findDeployed, openCloudFormation } from '../shell/deployed-stack';
import { CommandFailed } from '../shell/failure';
import { readJson, writeJson } from '../shell/json';
import { path, stackOption } from '../shell/options';
import { poll } from '../shell/poll';
import { escapeMarkdown, type Terminal } from '../shell/terminal';
import { assemblyOption, readAssembledStack } from './assembly';
import { effectOf, effects } from './effects';
import { lossesOf, newAcknowledgements, unknownMigrations } from './losses';

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
  /** State that would be lost, unknown migrations, new acknowledgements of residency rules, in words. */
  readonly warnings: readonly string[];
  readonly changes: readonly ReturnType<typeof readChange>[];
}

const help = `
Creates a change set from the assembly's template, reads it and deletes it without executing it. Marks stateful
resources (the address, clusters, keys, queues, secrets) that would be lost or replaced.

Exit codes: 0 planned, or unchanged with --verify; 1 failed, or the stack has changed; 2 usage error.`;

export function register(program: Command, terminal: Terminal): void {
  program
    .command('plan')
    .addOption(stackOption('the stack to plan').makeOptionMandatory())
    .addOption(assemblyOption())
    .option('--write <file>', 'also write the plan as JSON, for --verify', path)
    .option('--verify <file>', 'only check that the stack has not changed since this plan', path)
    .option('--json', 'print JSON')
    .summary('show what a deployment would change or lose')
    .description('Show what deploying an assembly would change, without deploying it.')
    .addHelpText('after', help)
    .action((options: PlanOptions) => plan(options, terminal));
}

async function plan({ stack: name, assembly, write, verify, json }: PlanOptions, terminal: Terminal) {
  const { region } = stackNamed(name) as TableStack;
  const cloudFormation = await openCloudFormation(region);
  const deployed = await findDeployed(cloudFormation, name);
  const changed = deployed?.LastUpdatedTime ?? deployed?.CreationTime ?? new Date(0);
  const base = deployed ? { id: deployed.StackId ?? '', changed: changed.toISOString() } : null;
  if (verify !== undefined) {
    requireSame(name, verify, base);
    return terminal.result(`${name} has not changed since the plan.`);
  }
  const assembled = readAssembledStack(assembly, name);
  if (deployed) terminal.note(`Creating a change set for ${name} (${region}) …`);
  const changes: readonly ResourceChange[] = deployed
    ? await createChangeSet(cloudFormation, deployed, assembled)
    : Object.entries(assembled.template.Resources).map(([LogicalResourceId, { Type }]) => ({
        Action: 'Add',
        LogicalResourceId,
        ResourceType: Type,
      }));
  const warnings = deployed
    ? await warningsOf(cloudFormation, deployed, assembled, changes)
    : newAcknowledgements({ ...assembled, template: { Resources: {} } }, assembled);
  const planned: Plan = { stack: name, region, base, warnings, changes: changes.map(readChange) };
  if (write !== undefined) writeJson(write, planned);
  terminal.result(json ? JSON.stringify(planned) : formatMarkdown(planned, terminal));
}

async function warningsOf(
  client: CloudFormation,
  { StackName = '', EnableTerminationProtection: terminationProtection = false }: Stack,
  assembled: AssembledStack,
  changes: readonly ResourceChange[],
): Promise<readonly string[]> {
  const { TemplateBody = '' } = await callAws(client, 'getTemplate', {
    StackName,
    TemplateStage: 'Original',
  });
  const template: Template = JSON.parse(TemplateBody);
  const base = { target: assembled.target, terminationProtection, template };
  return [
    ...lossesOf(base, assembled, changes),
    ...unknownMigrations(base, assembled),
    ...newAcknowledgements(base, assembled),
  ];
}

function requireSame(name: string, file: string, base: Plan['base']): void {
  const remedy = `Give the file that "wallet plan --stack ${name} --write" wrote.`;
  const planned: Partial<Plan> = readJson(file, remedy);
  if (planned.stack !== name || planned.base === undefined)
    throw new CommandFailed(`${file} is not a plan of ${name}.`, remedy);
  if (isDeepStrictEqual(planned.base, base)) return;
  const format = (each: Plan['base']) =>
    each ? `${each.id}, last changed at ${each.changed}` : 'not deployed';
  throw new CommandFailed(
    `${name} has changed since the plan: it was ${format(planned.base)}, and is now ${format(base)}.`,
    'Plan again and get the new plan approved.',
  );
}

/** Creates a change set, reads it, and deletes it and its template. */
async function createChangeSet(
  client: CloudFormation,
  deployed: Stack,
  { name: StackName, region, templateUrl, template, tags }: AssembledStack,
): Promise<readonly ResourceChange[]> {
  const { S3 } = await import('@aws-sdk/client-s3');
  const s3 = new S3(clientSettings(region));
  const account = deployed.StackId?.split(':')[4] ?? '';
  const ChangeSetName = `${planPrefix}${randomUUID()}`;
  // The CDK's bucket in the stack's region.
  const [, bucket = ''] = /^s3:\/\/([^/]+)\//.exec(templateUrl) ?? [];
  const Bucket = bucket.replace(/\$\{AWS::AccountId\}/, account);
  const object = { Bucket, Key: `${planFolder}/${ChangeSetName}.json`, ExpectedBucketOwner: account };
  const parameters = deployed.Parameters?.filter(({ ParameterKey = '' }) =>
    Object.hasOwn(template.Parameters ?? {}, ParameterKey),
  );
  // A template of more than 51,200 bytes must be in S3.
  await callAws(s3, 'putObject', { ...object, Body: JSON.stringify(template) });
  const create = async () => {
    // Omitted: role and notifications keep their values.
    await callAws(client, 'createChangeSet', {
      StackName,
      ChangeSetName,
      ClientToken: ChangeSetName,
      TemplateURL: `https://${Bucket}.s3.${region}.amazonaws.com/${object.Key}`,
      Parameters: parameters?.map(({ ParameterKey }) => ({ ParameterKey, UsePreviousValue: true })),
      Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
      Capabilities: ['CAPABILITY_IAM', 'CAPABILITY_NAMED_IAM'],
    });
    return cleaningUp(
      () => readChangeSet(client, StackName, ChangeSetName),
      () => callAws(client, 'deleteChangeSet', { StackName, ChangeSetName }),
    );
  };
  return cleaningUp(create, () => callAws(s3, 'deleteObject', object));
}

/** Cleans up in any case. A failure of the work is thrown before one of the cleanup, which it then names. */
async function cleaningUp<T>(work: () => Promise<T>, cleanup: () => Promise<unknown>): Promise<T> {
  const result = await work().catch(async (error) => {
    const left = await cleanup().then(
      () => undefined,
      ({ message }: Error) => `Left behind: ${message}`,
    );
    if (!left || !(error instanceof CommandFailed)) throw error;
    throw new CommandFailed(error.message, [error.remedy, left].filter(Boolean).join('\n'));
  });
  await cleanup();
  return result;
}

async function readChangeSet(client: CloudFormation, StackName: string, ChangeSetName: string) {
  const input = { StackName, ChangeSetName, IncludePropertyValues: true };
  const look = async () => {
    const pages = await callAwsPages(client, 'describeChangeSet', input);
    return /^(CREATE_COMPLETE|FAILED)$/.test(pages[0]?.Status ?? '') ? pages : undefined;
  };
  const pages = await poll(look, { seconds: 600, every: 2_000 });
  if (!pages)
    throw new CommandFailed(`CloudFormation created no change set for ${StackName} within ten minutes.`);
  const [{ Status, StatusReason = '' } = {}] = pages;
  // CloudFormation has no separate status for "no changes".
  if (/didn't contain changes|No updates are to be performed/.test(StatusReason)) return [];
  if (Status === 'FAILED')
    throw new CommandFailed(
      `CloudFormation rejected the change set: ${StatusReason}`,
      'Fix the template: a deployment would fail too.',
    );
  return pages.flatMap(({ Changes = [] }) => Changes.flatMap(({ ResourceChange }) => ResourceChange ?? []));
}

function readChange(change: ResourceChange) {
  const { LogicalResourceId: logicalId = '', ResourceType: type = '', Details = [] } = change;
  return {
    logicalId,
    type,
    effect: effectOf(change),
    details: [...new Set(Details.map(formatDetail))],
  };
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

/** The approver reads losses first, then every change. */
function formatMarkdown({ stack, region, base, warnings, changes }: Plan, terminal: Terminal): string {
  const byEffect = effects.map((effect) => ({
    effect,
    changes: changes.filter((each) => each.effect === effect),
  }));
  const counts = byEffect.flatMap(({ effect, changes }) =>
    changes.length > 0 ? `${changes.length} ${effect}` : [],
  );
  const rows = byEffect
    .flatMap(({ changes }) => changes)
    .map(
      ({ effect, logicalId, type, details }) =>
        `| ${effect} | \`${logicalId}\` | ${type} | ${details.map((each) => escapeMarkdown(each, terminal)).join(terminal.width === undefined ? '<br>' : '; ')} |`,
    );
  const heading = ['', '| Effect | Resource | Type | Details |', '|---|---|---|---|'];
  return [
    `## Plan of ${stack} (${region})`,
    '',
    ...warnings.flatMap((each) => [`> [!CAUTION]\n> ${each}`, '']),
    base ? `The stack was last changed at ${base.changed}.` : 'The stack is new.',
    '',
    counts.length > 0 ? `${counts.join(', ')}.` : 'No changes.',
    ...(base && rows.length > 0 ? [...heading, ...rows] : []),
  ].join('\n');
}
