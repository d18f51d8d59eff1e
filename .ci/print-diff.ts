/** Prints a change's effects on the stacks, as Markdown: `.ci/print-diff.ts BASE CHANGE`, two assemblies. */
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { formatDifferences, fullDiff, type TemplateDiff } from '@aws-cdk/cloudformation-diff';
import { listStacks, readAssembledStack } from '../cli/deployments/assembly';
import { lossesOf, type Stack } from '../cli/deployments/losses';
import { printable } from '../domain/printable';

type Stacks = Readonly<Record<string, Stack>>;

export function formatReport(before: Stacks, after: Stacks): string {
  const warnings = Object.entries(before).flatMap(([name, base]) => {
    const change = after[name];
    if (!change) return [];
    return lossesOf(base, change).map((warning) => `> - **${name}**: ${warning}`);
  });
  const stacks = Object.keys({ ...before, ...after }).flatMap((name) => {
    const lines = describe(before[name], after[name]);
    return lines.length > 0 ? [`### ${name}`, '', ...lines, ''] : [];
  });
  const report = [
    '## Changes to the stacks',
    '',
    ...(warnings.length > 0 ? ['> [!CAUTION]', '> **This change loses state:**', '>', ...warnings, ''] : []),
    ...(stacks.length > 0 ? stacks : ['No stack changes.']),
  ].join('\n');
  // Eight of an asset hash's 64 digits are enough to distinguish it.
  return report.replace(/\b([0-9a-f]{8})[0-9a-f]{56}\b/g, '$1…');
}

function describe(base: Stack | undefined, change: Stack | undefined): readonly string[] {
  if (!change) return ['No longer in the app. The deployed stack stays until somebody deletes it.'];
  if (!base)
    return [
      `A new stack in ${change.target}, with ${Object.keys(change.template.Resources).length} resources.`,
    ];
  const difference = fullDiff(base.template, change.template);
  const rebuilt = takeCodeChanges(difference);
  return [
    ...(rebuilt.length > 0 ? [`New code in: ${rebuilt.join(', ')}`] : []),
    ...(difference.isEmpty ? [] : ['', details(difference)]),
  ];
}

/** Removes functions of which only the code's hash changed. @returns their logical ids */
function takeCodeChanges({ resources }: TemplateDiff): readonly string[] {
  const rebuilt = Object.entries(resources.changes).filter(
    ([, { newResourceType, isUpdate, propertyUpdates, otherChanges }]) =>
      newResourceType === 'AWS::Lambda::Function' &&
      isUpdate &&
      Object.keys({ ...propertyUpdates, ...otherChanges }).every((name) => /^(Code|Metadata)$/.test(name)),
  );
  for (const [logicalId] of rebuilt) resources.remove(logicalId);
  return rebuilt.map(([logicalId]) => `\`${logicalId}\``);
}

/** The complete diff in the CDK's format, permissions first, collapsed. */
function details(difference: TemplateDiff): string {
  const stream = new PassThrough({ encoding: 'utf8' });
  formatDifferences(stream, difference);
  const text = stripVTControlCharacters(stream.read() ?? '').trim();
  const count = `${difference.differenceCount} differences`;
  return `<details><summary>${count}</summary>\n\n\`\`\`\`\n${text}\n\`\`\`\`\n\n</details>`;
}

const readStacks = (assembly: string): Stacks =>
  Object.fromEntries(listStacks(assembly).map(({ name }) => [name, readAssembledStack(assembly, name)]));

if (require.main === module) {
  const [base = '', change = ''] = process.argv.slice(2);
  console.log(printable(formatReport(readStacks(base), readStacks(change))));
}
