import {
  fullDiff,
  mangleLikeCloudFormation,
  type ResourceDifference,
  ResourceImpact,
} from '@aws-cdk/cloudformation-diff';
import type { ResourceChange } from '@aws-sdk/client-cloudformation';
import type { AssembledStack, Template } from '../../domain/assembly';
import { acknowledgementsIn } from '../../domain/residency';
import { effectOf, isHarmful, verbs } from './effects';
import { statefulTypes } from './stateful-types';

/** A stack as it is or was deployed, or would be. */
export type Stack = Pick<AssembledStack, 'target' | 'terminationProtection' | 'template'>;

/**
 * What a change would do to a stack's state, a sentence each, with the remedy: for `wallet plan`, the diff of a pull request and
 * the obstacles to a rollback. The CDK's library knows what a changed property replaces, `statefulTypes` which types have state.
 *
 * @param changes of CloudFormation's change set, which knows more: values, references, and changes without a changed template
 */
export function lossesOf(base: Stack, change: Stack, changes?: readonly ResourceChange[]): readonly string[] {
  const [before, after] = [mangle(base.template), mangle(change.template)];
  const changeSet = changes && { Changes: changes.map((each) => ({ ResourceChange: each })), $metadata: {} };
  const { resources } = fullDiff(before, after, changeSet);
  const inTemplate = Object.entries(resources.changes).flatMap(([logicalId, difference]) => {
    const type = difference.oldResourceType ?? '';
    return effectsOf(difference).map((effect) => ({ logicalId, type, effect }));
  });
  const byTemplate = new Set(inTemplate.map(({ logicalId }) => logicalId));
  const inChangeSet = (changes ?? []).flatMap((each) => {
    const { LogicalResourceId: logicalId = '', ResourceType: type = '' } = each;
    const effect = effectOf(each);
    return isHarmful(effect) && !byTemplate.has(logicalId)
      ? [{ logicalId, type, effect: verbs[effect] }]
      : [];
  });
  return [
    ...(base.target === change.target
      ? []
      : [`The stack would be created in ${change.target} instead of ${base.target}.`]),
    ...(base.terminationProtection && !change.terminationProtection
      ? ['The stack would lose its termination protection: a single call could then delete it.']
      : []),
    ...Object.entries(resources.changes)
      .filter(([, { isUpdate, propertyUpdates: of }]) => isUpdate && of.DeletionProtection?.oldValue === true)
      .map(([id]) => `\`${id}\` would lose its deletion protection: a single call could then delete it.`),
    ...[...inTemplate, ...inChangeSet].flatMap(({ logicalId, type, effect }) => {
      const remedy = statefulTypes[type];
      // Resources deleted with their stack, such as a role's password, can be recreated.
      const isDisposable = base.template.Resources[logicalId]?.DeletionPolicy === 'Delete';
      return remedy && !isDisposable ? [`\`${logicalId}\` (${type}) ${effect}. ${remedy}`] : [];
    }),
  ];
}

/** GetTemplate returns non-ASCII characters as `?`: https://github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/814 */
export const mangle = (template: object): Template =>
  JSON.parse(mangleLikeCloudFormation(JSON.stringify(template)));

/**
 * KMS refuses to change these of a key, which the CDK's library takes for updates.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-kms-key.html
 */
const fixedOfKeys = ['KeySpec', 'KeyUsage', 'MultiRegion', 'Origin'];

function effectsOf(difference: ResourceDifference): readonly string[] {
  const { changeImpact, oldValue, newValue, propertyUpdates } = difference;
  if (difference.isAddition) return [];
  if (difference.isRemoval)
    return [changeImpact === ResourceImpact.WILL_ORPHAN ? verbs.retained : verbs.deleted];
  if (difference.resourceTypeChanged) return [`${verbs.replaced} by a ${difference.newResourceType}`];
  const fixed = difference.resourceType === 'AWS::KMS::Key' ? fixedOfKeys : [];
  const replacing = Object.entries(propertyUpdates)
    .filter(([name, { changeImpact }]) => fixed.includes(name) || /REPLACE/.test(changeImpact ?? ''))
    .map(([name, { oldValue, newValue }]) => `${name} was ${text(oldValue)} and is ${text(newValue)}`);
  const verb = changeImpact === ResourceImpact.WILL_REPLACE ? verbs.replaced : verbs['may be replaced'];
  const retains = (policy: unknown) => policy !== undefined && policy !== 'Delete';
  return [
    ...(replacing.length > 0 ? [`${verb}: ${replacing.join(', ')}`] : []),
    ...(['DeletionPolicy', 'UpdateReplacePolicy'] as const)
      .filter((policy) => retains(oldValue?.[policy]) && !retains(newValue?.[policy]))
      .map((policy) => `would no longer be retained: ${policy} changes`),
  ];
}

const text = (value: unknown) => (value === undefined ? 'absent' : JSON.stringify(value));

/** Migrations that the deployed release has applied and a release does not contain, as a rollback by hand does not. */
export function unknownMigrations(deployed: Stack, release: Stack): readonly string[] {
  const known = migrationsIn(release);
  return migrationsIn(deployed)
    .filter((name) => !known.includes(name))
    .map(
      (name) =>
        `This release does not know migration \`${name}\`, which stays applied. Tests cover that for consecutive releases only: \`npm run compatible\`.`,
    );
}

/** Findings of the residency rules that a change accepts and its base does not: a sentence each, with the reason. */
export function newAcknowledgements(base: Stack, change: Stack): readonly string[] {
  const known = acknowledgementsIn(base.template).map((each) => JSON.stringify(each));
  return acknowledgementsIn(mangle(change.template))
    .filter((each) => !known.includes(JSON.stringify(each)))
    .map(
      ({ logicalId, rule, reason }) =>
        `\`${logicalId}\` acknowledges the residency rule \`${rule}\`: ${reason}. Approve it only if this may be.`,
    );
}

/** `lib/database/schema-migration.ts` writes them. */
const migrationsIn = ({ template }: Stack): readonly string[] =>
  Object.values(template.Resources).flatMap(({ Metadata }) => Metadata?.Migrations ?? []);
