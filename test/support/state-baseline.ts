import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lossesOf } from '../../.ci/stacks';
import { statefulTypes } from '../../cli/stateful-types';
import { type Environment, stacksOf } from '../../lib/environment';
import { environments as table } from '../../lib/environments';
import { synthesizeEveryStack } from './stacks';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

/** Type and properties that cannot change without replacement, by environment, stack and logical id. */
export type Baseline = Readonly<Record<string, Readonly<Record<string, StackState>>>>;
type StackState = Readonly<Record<string, { readonly type: string; readonly fixed: Json }>>;

/** Templates of the app's stacks, by stack. */
export function synthesizeTemplates(environments?: readonly Environment[]): Readonly<Record<string, Json>> {
  const stacks = Object.entries(synthesizeEveryStack(environments));
  return Object.fromEntries(stacks.map(([name, { json }]) => [name, json]));
}

/** The retained state of a stack. */
export function stateOf({ Resources }: Json): StackState {
  const stateful = Object.entries<Json>(Resources).filter(
    ([, { Type, DeletionPolicy }]) => statefulTypes[Type] && DeletionPolicy !== 'Delete',
  );
  return Object.fromEntries(
    stateful.map(([logicalId, { Type, Properties = {} }]) => {
      const names = statefulTypes[Type]?.fixed.filter((name) => Properties[name] !== undefined) ?? [];
      return [
        logicalId,
        { type: Type, fixed: Object.fromEntries(names.map((name) => [name, Properties[name]])) },
      ];
    }),
  );
}

/** The state that a deployment would lose, and state that the baseline lacks. */
export function lossesOfStack(state: StackState, template: Json): readonly string[] {
  const retained = { DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' };
  const before = Object.entries(state).map(([id, { type, fixed }]) => [
    id,
    { Type: type, Properties: fixed, ...retained },
  ]);
  const after = before.flatMap(([id]) => {
    const { Properties, ...resource } = template.Resources[id as string] ?? {};
    const fixed = stateOf({ Resources: { [id as string]: { Type: resource.Type, Properties } } })[
      id as string
    ]?.fixed;
    return resource.Type ? [[id, { ...resource, Properties: fixed ?? {} }]] : [];
  });
  const stack = (resources: Json) => ({
    environment: '',
    terminationProtection: false,
    template: { Resources: Object.fromEntries(resources) },
  });
  const added = Object.keys(stateOf(template)).filter((id) => !state[id]);
  return [
    ...lossesOf(stack(before), stack(after)),
    ...added.map((id) => `\`${id}\` is new. Add it to the baseline: npx tsx test/support/state-baseline.ts`),
  ];
}

/**
 * The same for all stacks. A stack missing from the baseline has no state yet; an environment missing from the table remains
 * until its stacks are deleted by hand.
 */
export function lossesOfApp(
  baseline: Baseline,
  names: readonly string[],
  templates: Readonly<Record<string, Json>>,
): readonly string[] {
  return Object.entries(baseline).flatMap(([environment, stacks]) =>
    Object.entries(stacks).flatMap(([stack, state]) => {
      if (templates[stack]) return lossesOfStack(state, templates[stack]);
      if (!names.includes(environment)) return [];
      return [`${stack} of ${environment} is gone, or has another name: its state would be left behind.`];
    }),
  );
}

const baselineFile = join(__dirname, '..', 'constructs', 'state-baseline.json');

export const readBaseline = (): Baseline => JSON.parse(readFileSync(baselineFile, 'utf8'));

/** Adds new resources to the baseline, and changes nothing else. */
function addNewState(): void {
  const baseline = readBaseline();
  const templates = synthesizeTemplates();
  const present = table.map((row) => {
    const { name } = row;
    const stacks = stacksOf(row).map(({ stackId }) => [
      stackId,
      { ...stateOf(templates[stackId]), ...baseline[name]?.[stackId] },
    ]);
    return [name, { ...baseline[name], ...Object.fromEntries(stacks) }];
  });
  const merged = { ...baseline, ...Object.fromEntries(present) };
  writeFileSync(baselineFile, `${JSON.stringify(merged, undefined, 2)}\n`);
}

if (require.main === module) addNewState();
