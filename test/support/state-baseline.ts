import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lossesOf } from '../../.ci/stacks';
import { statefulTypes } from '../../cli/stateful-types';
import { type Environment, stacksOf } from '../../lib/environment';
import { environments as table } from '../../lib/environments';
import { synthesizeEveryStack } from './stacks';

// biome-ignore lint/suspicious/noExplicitAny: a template's JSON is as free as this
type Json = any;

/** Type and properties that cannot change without replacement, by environment, stack and logical id. */
export type Baseline = Readonly<Record<string, Readonly<Record<string, StackState>>>>;
type StackState = Readonly<Record<string, { readonly type: string; readonly fixed: Json }>>;

/** Templates of the app's stacks, by stack. */
export function synthesizeTemplates(environments?: readonly Environment[]): Readonly<Record<string, Json>> {
  const stacks = Object.entries(synthesizeEveryStack(environments));
  return Object.fromEntries(stacks.map(([name, { json }]) => [name, json]));
}

/** What a stack retains of its state. */
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

/** What the deployment of a template over a stack's state would lose, and what of its state the baseline lacks. */
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
 * The same for all stacks. One that the baseline lacks has no state yet; an environment that the table lacks stays as it is until
 * its stacks are deleted by hand.
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

/** Adds what is new to the baseline, and changes nothing else of it. */
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
