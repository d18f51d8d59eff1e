import type { Effect, Plan, PlannedChange } from './changes';

/** In the order in which they are told: the worst first. */
const effects: readonly Effect[] = [
  'deleted',
  'replaced',
  'left behind',
  'perhaps replaced',
  'unknown',
  'changed',
  'imported',
  'added',
];

/** A plan for the person who approves it: what would be lost, then every change. */
export function inMarkdown({ stack, region, base, changes }: Plan): string {
  const warned = changes.filter(({ warning }) => warning !== undefined);
  return [
    `## Plan of ${stack} (${region})`,
    '',
    ...warned.flatMap(warningOf),
    base === null ? 'A new stack.' : `The stack was last changed at ${base.changed}.`,
    '',
    changes.length === 0 ? 'Nothing changes.' : `${counts(changes)}.`,
    ...(base === null || changes.length === 0 ? [] : ['', ...table(changes)]),
  ].join('\n');
}

const warningOf = ({ logicalId, type, effect, details, warning }: PlannedChange): readonly string[] => [
  '> [!CAUTION]',
  `> **\`${logicalId}\` (${type}) holds state and would be ${effect}.** ${warning}`,
  ...details.map((detail) => `> - ${escaped(detail)}`),
  '',
];

const counts = (changes: readonly PlannedChange[]): string =>
  effects
    .map((effect) => [changes.filter((change) => change.effect === effect).length, effect] as const)
    .filter(([count]) => count > 0)
    .map(([count, effect]) => `${count} ${effect}`)
    .join(', ');

function table(changes: readonly PlannedChange[]): readonly string[] {
  const inOrder = changes.toSorted((a, b) => effects.indexOf(a.effect) - effects.indexOf(b.effect));
  const row = ({ effect, logicalId, type, details }: PlannedChange) =>
    `| ${effect} | \`${logicalId}\` | ${type} | ${details.map(escaped).join('<br>')} |`;
  return ['| Effect | Resource | Type | What |', '|---|---|---|---|', ...inOrder.map(row)];
}

/** Values of a template may hold anything. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
