import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { statefulTypes } from '../../domain/stateful-types';
import type { Environment } from '../../lib/environment';
import { environments as table } from '../../lib/environments';
import { synthesizeEveryStack } from './stacks';

// biome-ignore lint/suspicious/noExplicitAny: a template's JSON is as free as this
type Json = any;

/** By the environment's name, then by stack. */
export type Baseline = Readonly<Record<string, Readonly<Record<string, StackState>>>>;

/** By logical id. */
type StackState = Readonly<Record<string, HeldState>>;

interface HeldState {
  readonly type: string;
  /** Properties that cannot change without replacement, as they are. One that is not listed is left out of the template. */
  readonly fixed: Json;
}

/** Templates of the app's stacks, by stack. */
export function synthesizeTemplates(environments?: readonly Environment[]): Readonly<Record<string, Json>> {
  const stacks = Object.entries(synthesizeEveryStack(environments));
  return Object.fromEntries(stacks.map(([name, { json }]) => [name, json]));
}

/** What a template's stack holds. A resource that goes with its stack, such as a role's password, is no such state. */
export function stateOf(template: Json): StackState {
  return Object.fromEntries(
    Object.entries<Json>(template.Resources)
      .filter(([, { Type, DeletionPolicy }]) => statefulTypes[Type] && DeletionPolicy !== 'Delete')
      .map(([logicalId, { Type, Properties = {} }]) => [
        logicalId,
        { type: Type, fixed: fixedOf(Type, Properties) },
      ]),
  );
}

/**
 * What deploying the app over the baseline would lose, one sentence or more for each; empty when nothing. A stack that the
 * baseline does not have holds nothing yet. An environment that the table does not have is no loss: its stacks stay as they
 * are until they are deleted by hand.
 *
 * @param names of the table's environments
 * @param templates by stack
 */
export function lossesOfApp(
  baseline: Baseline,
  names: readonly string[],
  templates: Readonly<Record<string, Json>>,
): string[] {
  return Object.entries(baseline).flatMap(([environment, stacks]) =>
    Object.entries(stacks).flatMap(([stack, held]) => {
      if (templates[stack]) return lossesOf(held, templates[stack]);
      if (!names.includes(environment)) return [];
      return [
        `${stack} of ${environment} is gone, or has another name: its state would be left behind. Take it out of the baseline if it is meant.`,
      ];
    }),
  );
}

/** What deploying the template over a stack's state would lose. */
export function lossesOf(baseline: StackState, template: Json): string[] {
  const losses = Object.entries(baseline).flatMap(([logicalId, { type, fixed }]) => {
    const now = template.Resources[logicalId];
    const { remedy = '' } = statefulTypes[type] ?? {};
    const loss = (what: string) => `${logicalId} (${type}) ${what}. ${remedy}`;
    if (now === undefined) return [loss('is gone, or has another logical id')];
    if (now.Type !== type) return [loss(`is of type ${now.Type} now`)];
    const changed = changesBetween(fixed, fixedOf(type, now.Properties ?? {})).map((change) =>
      loss(`would be replaced: ${change}`),
    );
    const dropped = ['DeletionPolicy', 'UpdateReplacePolicy'].filter((policy) => now[policy] === 'Delete');
    return [...changed, ...dropped.map((policy) => loss(`is no longer kept: ${policy} is Delete`))];
  });
  const unknown = Object.keys(stateOf(template)).filter((logicalId) => !baseline[logicalId]);
  const added = unknown.map(
    (logicalId) =>
      `${logicalId} (${template.Resources[logicalId].Type}) is new. Hold it too: npx tsx ${addCommand}`,
  );
  return [...losses, ...added];
}

const addCommand = 'test/support/state-baseline.ts';
const baselineFile = join(__dirname, '..', 'constructs', 'state-baseline.json');

export const readBaseline = (): Baseline => JSON.parse(readFileSync(baselineFile, 'utf8'));

function fixedOf(type: string, properties: Json): Json {
  const names = (statefulTypes[type]?.fixed ?? []).filter((name) => properties[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, properties[name]]));
}

function changesBetween(before: Json, after: Json): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => !isDeepStrictEqual(before[name], after[name]))
    .map((name) => `${name} was ${text(before[name])} and is ${text(after[name])}`);
}

const text = (value: unknown) => (value === undefined ? 'left out' : JSON.stringify(value));

/** Adds to the baseline what is new. What it has is never changed: that is done by hand, or not at all. */
function addNewState(): void {
  const baseline = readBaseline();
  const templates = synthesizeTemplates();
  const present = table.map(({ name, stackId, standby }) => {
    const stacks = [stackId, ...(standby ? [standby.stackId] : [])].map((stack) => [
      stack,
      { ...stateOf(templates[stack]), ...baseline[name]?.[stack] },
    ]);
    return [name, { ...baseline[name], ...Object.fromEntries(stacks) }];
  });
  const merged = { ...baseline, ...Object.fromEntries(present) };
  writeFileSync(baselineFile, `${JSON.stringify(merged, undefined, 2)}\n`);
}

if (require.main === module) addNewState();
