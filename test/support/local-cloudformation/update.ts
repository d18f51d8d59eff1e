import { isDeepStrictEqual } from 'node:util';
import { resourceType } from './resources';
import { type Rollback, rollBack } from './rollback';
import type { Stack, StackResource } from './stack';
import { change, create, ResourceFailed, remove } from './steps';
import type { Parameters, WantedResource } from './template';

/**
 * An update as CloudFormation does it: what is new or changed first, each after what it needs; what is gone or was
 * replaced last. When a step fails, those before it are undone.
 *
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-update-behaviors.html
 */
export function* updateStack(stack: Stack, parameters: Parameters): Generator<undefined, void> {
  const before = stack.parameters;
  stack.parameters = parameters;
  stack.record('UPDATE_IN_PROGRESS', { reason: 'User Initiated' });
  yield;
  const rollback: Rollback = { reverts: [], made: [] };
  const replaced: StackResource[] = [];
  const wanted = stack.template.resources(parameters);
  try {
    for (const resource of wanted) yield* bringAbout(stack, resource, rollback, replaced);
  } catch (error) {
    if (!(error instanceof ResourceFailed)) throw error;
    stack.parameters = before;
    return yield* rollBack(stack, rollback, error.message);
  }
  stack.record('UPDATE_COMPLETE_CLEANUP_IN_PROGRESS');
  yield;
  const ids = new Set(wanted.map(({ logicalId }) => logicalId));
  const gone = [...stack.resources.values()].filter(({ logicalId }) => !ids.has(logicalId)).reverse();
  for (const resource of gone) stack.resources.delete(resource.logicalId);
  for (const resource of [...gone, ...replaced]) yield* remove(stack, resource);
  stack.record('UPDATE_COMPLETE');
}

function* bringAbout(
  stack: Stack,
  { logicalId, type, properties: unresolved }: WantedResource,
  rollback: Rollback,
  replaced: StackResource[],
): Generator<undefined, void> {
  const properties = stack.resolved(unresolved);
  const existing = stack.resources.get(logicalId);
  if (existing && isDeepStrictEqual(existing.properties, properties)) return;
  const replaces = resourceType(type).replacedBy.some(
    (name) => existing && !isDeepStrictEqual(existing.properties[name], properties[name]),
  );
  if (existing && !replaces) {
    // What failed to change is changed back as well.
    rollback.reverts.unshift({ resource: existing, properties: existing.properties });
    yield* change(stack, existing, properties);
    return;
  }
  const made: StackResource = { logicalId, type, properties, physicalId: '', attributes: {}, status: '' };
  rollback.made.unshift({ resource: made, former: existing });
  stack.resources.set(logicalId, made);
  yield* create(stack, made);
  if (existing) replaced.unshift(existing);
}
