import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { statefulTypes } from '../../lib/checks/stateful-types';
import type { Environment } from '../../lib/environment/environment';
import { synthesizeEveryStack } from './stacks';

// biome-ignore lint/suspicious/noExplicitAny: a template's JSON is as free as this
type Json = any;

/** By stack, then by logical id. */
export type Baseline = Readonly<Record<string, Readonly<Record<string, HeldState>>>>;

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
export function stateOf(template: Json): Readonly<Record<string, HeldState>> {
  return Object.fromEntries(
    Object.entries<Json>(template.Resources)
      .filter(([, { Type, DeletionPolicy }]) => statefulTypes[Type] && DeletionPolicy !== 'Delete')
      .map(([logicalId, { Type, Properties = {} }]) => [
        logicalId,
        { type: Type, fixed: fixedOf(Type, Properties) },
      ]),
  );
}

/** What deploying the template over the baseline would lose, one sentence or more for each; empty when nothing. */
export function lossesOf(baseline: Baseline[string], template: Json): string[] {
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
  const stacks = Object.entries(synthesizeTemplates()).map(([stack, template]) => [
    stack,
    { ...stateOf(template), ...baseline[stack] },
  ]);
  const merged = { ...baseline, ...Object.fromEntries(stacks) };
  writeFileSync(baselineFile, `${JSON.stringify(merged, undefined, 2)}\n`);
}

if (require.main === module) addNewState();
