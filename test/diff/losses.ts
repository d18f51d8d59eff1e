import { type ResourceDifference, ResourceImpact, type TemplateDiff } from '@aws-cdk/cloudformation-diff';
import { statefulTypes } from '../../domain/stateful-types';
import type { Stack } from './assembly';

/**
 * What a change of a stack would replace, remove or no longer keep among what holds state: a sentence each, with the
 * remedy. The library knows what a change replaces; `statefulTypes` says which types hold state.
 */
export function lossesOf(base: Stack, change: Stack, { resources }: TemplateDiff): readonly string[] {
  const unprotected =
    base.terminationProtection && !change.terminationProtection
      ? ['The stack would lose its termination protection: one call could delete it.']
      : [];
  const moved =
    base.environment !== change.environment
      ? [`The stack would be another one, in ${change.environment} instead of ${base.environment}.`]
      : [];
  const lost = Object.entries(resources.changes).flatMap(([logicalId, difference]) => {
    const stateful = statefulTypes[difference.oldResourceType ?? ''];
    // What goes with its stack, such as a role's password, can be made again.
    if (stateful === undefined || difference.oldValue?.DeletionPolicy === 'Delete') return [];
    return fatesOf(difference, stateful.fixed).map(
      (fate) => `\`${logicalId}\` (${difference.oldResourceType}) ${fate}. ${stateful.remedy}`,
    );
  });
  return [...moved, ...unprotected, ...lost];
}

const replaces: readonly (ResourceImpact | undefined)[] = [
  ResourceImpact.WILL_REPLACE,
  ResourceImpact.MAY_REPLACE,
];

function fatesOf(difference: ResourceDifference, fixed: readonly string[]): string[] {
  if (difference.isRemoval) {
    const left = difference.changeImpact === ResourceImpact.WILL_ORPHAN;
    return [`would be removed from the stack${left ? ' and left behind' : ' and deleted'}`];
  }
  if (difference.resourceTypeChanged) return [`would be replaced by a ${difference.newResourceType}`];
  const properties = Object.entries(difference.propertyUpdates)
    .filter(([name, { changeImpact }]) => replaces.includes(changeImpact) || fixed.includes(name))
    .map(([name, { oldValue, newValue }]) => `${name} was ${text(oldValue)} and is ${text(newValue)}`);
  const will = difference.changeImpact === ResourceImpact.WILL_REPLACE ? 'would' : 'may';
  const replaced = properties.length > 0 ? [`${will} be replaced: ${properties.join(', ')}`] : [];
  const policies = (['DeletionPolicy', 'UpdateReplacePolicy'] as const).filter(
    (policy) => keeps(difference.oldValue?.[policy]) && !keeps(difference.newValue?.[policy]),
  );
  return [...replaced, ...policies.map((policy) => `would no longer be kept: ${policy} changes`)];
}

const keeps = (policy: unknown) => policy !== undefined && policy !== 'Delete';

const text = (value: unknown) => (value === undefined ? 'left out' : JSON.stringify(value));
