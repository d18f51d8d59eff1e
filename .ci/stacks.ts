import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fullDiff, type ResourceDifference, ResourceImpact } from '@aws-cdk/cloudformation-diff';
import { statefulTypes } from '../cli/deployments/stateful-types';

// biome-ignore lint/suspicious/noExplicitAny: a template is arbitrary JSON
type Json = any;

/** A stack of an assembly. */
export interface Stack {
  /** Such as `aws://unknown-account/eu-central-1`. */
  readonly environment: string;
  readonly terminationProtection: boolean;
  readonly template: Json;
}

/** The stacks that an assembly's manifest lists, by name. */
export function readStacks(assembly: string): Readonly<Record<string, Stack>> {
  const read = (file: string): Json => JSON.parse(readFileSync(join(assembly, file), 'utf8'));
  return Object.fromEntries(
    Object.entries<Json>(read('manifest.json').artifacts)
      .filter(([, { type }]) => type === 'aws:cloudformation:stack')
      .map(([id, { environment, properties }]) => [
        properties.stackName ?? id,
        {
          environment,
          terminationProtection: properties.terminationProtection === true,
          template: read(properties.templateFile),
        },
      ]),
  );
}

/**
 * Stateful resources that a change would replace, remove or no longer retain: a sentence each, with the
 * remedy. The CDK's library knows what a change replaces; `statefulTypes` lists the stateful types.
 */
export function lossesOf(base: Stack, change: Stack): readonly string[] {
  const unprotected = base.terminationProtection && !change.terminationProtection;
  const { resources } = fullDiff(base.template, change.template);
  return [
    ...(base.environment === change.environment
      ? []
      : [`The stack would be created in ${change.environment} instead of ${base.environment}.`]),
    ...(unprotected
      ? ['The stack would lose its termination protection: a single call could then delete it.']
      : []),
    ...Object.entries(resources.changes).flatMap(([logicalId, difference]) => {
      const type = difference.oldResourceType ?? '';
      const { fixed, remedy } = statefulTypes[type] ?? {};
      // Resources deleted with their stack, such as a role's password, can be recreated.
      if (!fixed || difference.oldValue?.DeletionPolicy === 'Delete') return [];
      return effectsOf(difference, fixed).map((effect) => `\`${logicalId}\` (${type}) ${effect}. ${remedy}`);
    }),
  ];
}

function effectsOf(difference: ResourceDifference, fixed: readonly string[]): readonly string[] {
  const { changeImpact, oldValue, newValue, propertyUpdates } = difference;
  if (difference.isRemoval)
    return [
      `would be removed from the stack and ${changeImpact === ResourceImpact.WILL_ORPHAN ? 'retained' : 'deleted'}`,
    ];
  if (difference.resourceTypeChanged) return [`would be replaced by a ${difference.newResourceType}`];
  const replacing = Object.entries(propertyUpdates)
    .filter(([name, { changeImpact }]) => fixed.includes(name) || /REPLACE/.test(changeImpact ?? ''))
    .map(([name, { oldValue, newValue }]) => `${name} was ${text(oldValue)} and is ${text(newValue)}`);
  const verb = changeImpact === ResourceImpact.WILL_REPLACE ? 'would' : 'may';
  const retains = (policy: unknown) => policy !== undefined && policy !== 'Delete';
  return [
    ...(replacing.length > 0 ? [`${verb} be replaced: ${replacing.join(', ')}`] : []),
    ...(['DeletionPolicy', 'UpdateReplacePolicy'] as const)
      .filter((policy) => retains(oldValue?.[policy]) && !retains(newValue?.[policy]))
      .map((policy) => `would no longer be retained: ${policy} changes`),
  ];
}

const text = (value: unknown) => (value === undefined ? 'absent' : JSON.stringify(value));

/** Migrations that are incompatible with the previous release: a sentence each, with the reason. */
export function finalMigrations(before: Stack, release: Stack): readonly string[] {
  const [known, all] = [before, release].map(({ template }) =>
    Object.assign(
      {},
      ...Object.values<Json>(template.Resources).map((each) => each.Metadata?.IrreversibleMigrations),
    ),
  );
  return Object.entries(all)
    .filter(([name]) => !(name in known))
    .map(([name, reason]) => `Migration \`${name}\` prevents a rollback: ${reason}.`);
}
