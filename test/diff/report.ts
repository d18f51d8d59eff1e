import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { formatDifferences, fullDiff, ResourceImpact, type TemplateDiff } from '@aws-cdk/cloudformation-diff';
import { newMigrations } from '../../lib/checks/migrations';
import { readStacks, type Stack } from './assembly';
import { lossesOf } from './losses';

/** One of the two things that are compared. */
export interface Side {
  /** Folder of the sources. */
  readonly sources: string;
  /** Folder of the assembly that was synthesized from them. */
  readonly assembly: string;
}

/** A part of the report, as Markdown; `undefined` when it has nothing to say. */
type Section = (base: Side, change: Side) => string | undefined;

/** In the order in which a reviewer reads them: what is dangerous first. */
const sections: readonly Section[] = [stateSection, migrationsSection, stacksSection];

/** What a change does to the stacks, as Markdown. */
export function formatReport(base: Side, change: Side): string {
  const parts = sections.map((section) => section(base, change)).filter((part) => part !== undefined);
  const body = parts.length > 0 ? parts.join('\n') : 'No stack changes.\n';
  return shortenHashes(`## What this change does to the stacks\n\n${body}`);
}

function stateSection(base: Side, change: Side): string | undefined {
  const [before, after] = [readStacks(base.assembly), readStacks(change.assembly)];
  const losses = Object.entries(before).flatMap(([name, stack]) => {
    const now = after[name];
    if (now === undefined) return [];
    return lossesOf(stack, now, differenceOf(stack, now)).map((loss) => `> - **${name}**: ${loss}\n`);
  });
  if (losses.length === 0) return undefined;
  return `> [!CAUTION]\n> **What holds state would be replaced, removed or no longer kept:**\n>\n${losses.join('')}`;
}

/** @throws Error when a migration of the base was edited or removed */
function migrationsSection(base: Side, change: Side): string | undefined {
  const added = newMigrations(base.sources, change.sources);
  const final = added.filter(({ cannotBeTakenBack }) => cannotBeTakenBack);
  const warnings = final.map(({ name, cannotBeTakenBack }) => `> - \`${name}\`: ${cannotBeTakenBack}\n`);
  const names = added.map(({ name }) => `\`${name}\``);
  const parts = [
    ...(final.length > 0
      ? [
          `> [!CAUTION]\n> **After these migrations the release before cannot be deployed again:**\n>\n`,
          ...warnings,
          '\n',
        ]
      : []),
    ...(names.length > 0 ? [`New migrations: ${names.join(', ')}.\n`] : []),
  ];
  return parts.length > 0 ? parts.join('') : undefined;
}

function stacksSection(base: Side, change: Side): string | undefined {
  const [before, after] = [readStacks(base.assembly), readStacks(change.assembly)];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const parts = names.flatMap((name) => {
    const text = stackText(before[name], after[name]);
    return text === undefined ? [] : [`### ${name}\n\n${text}`];
  });
  return parts.length === 0 ? undefined : parts.join('\n');
}

function stackText(before: Stack | undefined, after: Stack | undefined): string | undefined {
  if (after === undefined) {
    return 'Is no longer in the app. A deployment leaves the deployed stack as it is; deleting it is a decision of its own.\n';
  }
  if (before === undefined) {
    const count = Object.keys(after.template.Resources).length;
    return `A new stack in ${after.environment}, with ${count} resources.\n`;
  }
  const difference = differenceOf(before, after);
  if (difference.isEmpty) return undefined;
  const rebuilt = takeCodeChanges(difference);
  return [
    ...counted(difference),
    ...(rebuilt.length > 0 ? [`- New code in: ${rebuilt.join(', ')}`] : []),
    ...(difference.isEmpty ? [] : ['', details(difference)]),
    '',
  ].join('\n');
}

const differenceOf = (before: Stack, after: Stack) => fullDiff(before.template, after.template);

/** Takes functions out of which nothing changes but the code: a hash says nothing to a reader. @returns their logical ids */
function takeCodeChanges({ resources }: TemplateDiff): string[] {
  const rebuilt = Object.entries(resources.changes).filter(
    ([, { newResourceType, isUpdate, propertyUpdates, otherChanges }]) =>
      newResourceType === 'AWS::Lambda::Function' &&
      isUpdate &&
      Object.keys({ ...propertyUpdates, ...otherChanges }).every((name) =>
        ['Code', 'Metadata'].includes(name),
      ),
  );
  for (const [logicalId] of rebuilt) resources.remove(logicalId);
  return rebuilt.map(([logicalId]) => `\`${logicalId}\``);
}

const fates: Readonly<Record<string, readonly ResourceImpact[]>> = {
  Removed: [ResourceImpact.WILL_DESTROY],
  'Removed from the stack and left behind': [ResourceImpact.WILL_ORPHAN],
  Replaced: [ResourceImpact.WILL_REPLACE],
  'Perhaps replaced': [ResourceImpact.MAY_REPLACE],
  New: [ResourceImpact.WILL_CREATE],
  Changed: [ResourceImpact.WILL_UPDATE],
};

/** A line for each fate, with the resources that meet it. */
function counted({ resources }: TemplateDiff): string[] {
  const changes = Object.entries(resources.changes);
  return Object.entries(fates).flatMap(([fate, impacts]) => {
    const met = changes.filter(([, { changeImpact }]) => impacts.includes(changeImpact));
    if (met.length === 0) return [];
    const names = met.map(
      ([logicalId, each]) => `\`${logicalId}\` (${each.newResourceType ?? each.oldResourceType})`,
    );
    return [`- ${fate}: ${names.join(', ')}`];
  });
}

/** The whole difference as the CDK prints it, permissions first, folded. */
function details(difference: TemplateDiff): string {
  const stream = new PassThrough({ encoding: 'utf8' });
  formatDifferences(stream, difference);
  const text = stripVTControlCharacters(stream.read() ?? '').trim();
  return `<details><summary>All of it</summary>\n\n\`\`\`\`\n${text}\n\`\`\`\`\n\n</details>`;
}

/** Hashes of assets are 64 digits; eight of them tell two apart. */
const shortenHashes = (text: string) => text.replace(/\b([0-9a-f]{8})[0-9a-f]{56}\b/g, '$1…');
