import { isDeepStrictEqual } from 'node:util';
import { resourceType } from './resources';
import type { Stack, StackResource } from './stack';
import type { Parameters, WantedResource } from './template';

/** A step that went well, and how a rollback undoes it. */
type Undo = () => Generator<undefined, void>;

class ResourceFailed extends Error {}

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
  const undo: Undo[] = [];
  const replaced: StackResource[] = [];
  const wanted = stack.template.resources(parameters);
  try {
    for (const resource of wanted) yield* bringAbout(stack, resource, undo, replaced);
  } catch (error) {
    if (!(error instanceof ResourceFailed)) throw error;
    stack.parameters = before;
    return yield* rollBack(stack, undo, error.message);
  }
  stack.record('UPDATE_COMPLETE_CLEANUP_IN_PROGRESS');
  yield;
  const ids = new Set(wanted.map(({ logicalId }) => logicalId));
  const gone = [...stack.resources.values()].filter(({ logicalId }) => !ids.has(logicalId)).reverse();
  for (const resource of gone) stack.resources.delete(resource.logicalId);
  for (const resource of [...gone, ...replaced]) yield* remove(stack, resource, true);
  stack.record('UPDATE_COMPLETE');
}

function* bringAbout(
  stack: Stack,
  { logicalId, type, properties: unresolved }: WantedResource,
  undo: Undo[],
  replaced: StackResource[],
): Generator<undefined, void> {
  const properties = stack.resolved(unresolved);
  const existing = stack.resources.get(logicalId);
  if (existing && isDeepStrictEqual(existing.properties, properties)) return;
  const replaces = resourceType(type).replacedBy.some(
    (name) => existing && !isDeepStrictEqual(existing.properties[name], properties[name]),
  );
  if (existing && !replaces) {
    const former = existing.properties;
    yield* change(stack, existing, properties);
    undo.unshift(() => change(stack, existing, former));
    return;
  }
  const made: StackResource = { logicalId, type, properties, physicalId: '', attributes: {}, status: '' };
  undo.unshift(function* () {
    if (existing) stack.resources.set(logicalId, existing);
    else stack.resources.delete(logicalId);
    if (made.physicalId) yield* remove(stack, made, false);
  });
  stack.resources.set(logicalId, made);
  yield* create(stack, made);
  if (existing) replaced.unshift(existing);
}

function* create(stack: Stack, resource: StackResource): Generator<undefined, void> {
  const { type, logicalId, properties } = resource;
  yield* during(stack, 'CREATE', resource, function* () {
    const name = `${stack.name}-${logicalId}`;
    Object.assign(resource, yield* resourceType(type).create(stack.account, properties, name));
  });
}

function* change(stack: Stack, resource: StackResource, properties: unknown): Generator<undefined, void> {
  yield* during(stack, 'UPDATE', resource, function* () {
    yield* resourceType(resource.type).update(stack.account, resource.physicalId, properties);
    resource.properties = properties;
  });
}

/** In the cleanup a resource that cannot be deleted is left behind, and the update succeeds all the same. */
function* remove(stack: Stack, resource: StackResource, forgiving: boolean): Generator<undefined, void> {
  try {
    yield* during(stack, 'DELETE', resource, () =>
      resourceType(resource.type).delete(stack.account, resource.physicalId),
    );
  } catch (error) {
    if (!forgiving || !(error instanceof ResourceFailed)) throw error;
  }
}

function* during(
  stack: Stack,
  action: 'CREATE' | 'UPDATE' | 'DELETE',
  resource: StackResource,
  work: () => Generator<undefined, void>,
): Generator<undefined, void> {
  stack.record(`${action}_IN_PROGRESS`, { resource });
  yield;
  try {
    const planned = stack.plannedFailures.findIndex(
      (failure) => failure.type === resource.type && failure.action === action,
    );
    if (planned >= 0) throw new Error(stack.plannedFailures.splice(planned, 1)[0]?.reason);
    yield* work();
  } catch (error) {
    const reason = `Resource handler returned message: "${(error as Error).message}"`;
    stack.record(`${action}_FAILED`, { resource, reason });
    throw new ResourceFailed(
      `The following resource(s) failed to ${action.toLowerCase()}: [${resource.logicalId}].`,
    );
  }
  stack.record(`${action}_COMPLETE`, { resource });
  yield;
}

function* rollBack(stack: Stack, undo: readonly Undo[], reason: string): Generator<undefined, void> {
  stack.record('UPDATE_ROLLBACK_IN_PROGRESS', { reason });
  yield;
  try {
    for (const step of undo) yield* step();
  } catch (error) {
    if (!(error instanceof ResourceFailed)) throw error;
    return stack.record('UPDATE_ROLLBACK_FAILED', { reason: error.message });
  }
  stack.record('UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS');
  yield;
  stack.record('UPDATE_ROLLBACK_COMPLETE');
}
