import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { statefulTypes } from '../../cli/deployments/stateful-types';
import { type Environment, stacksOf } from '../../lib/environment/schema';
import { environments as table } from '../../lib/environments';
import { synthesizeEveryStack } from '../support/stacks';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

/** Templates of the app's stacks, by stack. */
export function synthesizeTemplates(environments?: readonly Environment[]): Readonly<Record<string, Json>> {
  const stacks = Object.entries(synthesizeEveryStack(environments));
  return Object.fromEntries(stacks.map(([name, { json }]) => [name, json]));
}

const isRetained = (policy: unknown) => policy !== undefined && policy !== 'Delete';

/** The retained state of a stack: a line per resource, with its type and the properties that cannot change without replacement. */
export function stateOf({ Resources }: Json): readonly string[] {
  return Object.entries<Json>(Resources)
    .filter(
      ([, { Type, DeletionPolicy, UpdateReplacePolicy }]) =>
        statefulTypes[Type] && isRetained(DeletionPolicy) && isRetained(UpdateReplacePolicy),
    )
    .map(([logicalId, { Type, Properties }]) => {
      const fixed = statefulTypes[Type]?.fixed.map((name) => [name, Properties?.[name]]) ?? [];
      return `${logicalId} ${Type} ${JSON.stringify(Object.fromEntries(fixed))}`;
    });
}

/** The state of all stacks in the table; before each line, its environment and its stack. */
export const stateOfApp = (templates: Readonly<Record<string, Json>>, rows = table): readonly string[] =>
  rows.flatMap((row) =>
    stacksOf(row).flatMap(({ stackId }) =>
      stateOf(templates[stackId]).map((line) => `${row.name} ${stackId} ${line}`),
    ),
  );

/**
 * What a change would replace, remove, release or add. A stack that the baseline lacks has no state yet; an environment that the
 * table lacks remains in the baseline until its stacks are deleted by hand.
 */
export function changesOf(baseline: readonly string[], state: readonly string[], rows = table) {
  const word = (index: number) => (line: string) => line.split(' ')[index] ?? '';
  const [names, stacks] = [rows.map(({ name }) => name), state.map(word(1))];
  const isPresent = (line: string) => names.includes(word(0)(line)) || stacks.includes(word(1)(line));
  return {
    lost: baseline.filter((line) => isPresent(line) && !state.includes(line)),
    added: state.filter((line) => baseline.map(word(1)).includes(word(1)(line)) && !baseline.includes(line)),
  };
}

const baselineFile = join(__dirname, '..', 'constructs', 'state-baseline.txt');

export const readBaseline = (): readonly string[] => readFileSync(baselineFile, 'utf8').trim().split('\n');

/** Adds new resources to the baseline, and changes nothing else. */
function addNewState(): void {
  const baseline = readBaseline();
  const resourceOf = (line: string) => line.split(' ', 3).join(' ');
  const known = new Set(baseline.map(resourceOf));
  const added = stateOfApp(synthesizeTemplates()).filter((line) => !known.has(resourceOf(line)));
  writeFileSync(baselineFile, `${[...baseline, ...added].sort().join('\n')}\n`);
}

if (require.main === module) addNewState();
