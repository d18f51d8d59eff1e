import { resourceType } from './resources';
import type { Stack, StackResource } from './stack';

/** CloudFormation could not make, change or delete a resource. */
export class ResourceFailed extends Error {}

/** Milliseconds after which CloudFormation gives up one attempt. Made up: each type has its own. */
const attempt = 60 * 60_000;

export function* create(stack: Stack, resource: StackResource): Generator<undefined, void> {
  const { type, properties } = resource;
  yield* during(stack, 'CREATE', resource, function* () {
    const context = {
      ...stack.contextOf(resource),
      began: (physicalId: string) => {
        resource.physicalId = physicalId;
      },
    };
    Object.assign(resource, yield* resourceType(type).create(stack.account, properties, context));
  });
}

export function* change(
  stack: Stack,
  resource: StackResource,
  properties: unknown,
): Generator<undefined, void> {
  yield* during(stack, 'UPDATE', resource, function* () {
    yield* resourceType(resource.type).update(stack.account, resource.physicalId, properties);
    resource.properties = properties;
  });
}

/**
 * In a cleanup CloudFormation tries a deletion three times, then forgets the resource.
 * https://github.com/ASFHyP3/hyp3/issues/2800
 */
export function* remove(stack: Stack, resource: StackResource): Generator<undefined, void> {
  for (let tries = 0; tries < 3; tries++) {
    try {
      return yield* during(stack, 'DELETE', resource, () =>
        resourceType(resource.type).delete(stack.account, resource.physicalId),
      );
    } catch (error) {
      if (!(error instanceof ResourceFailed)) throw error;
    }
  }
}

function* during(
  stack: Stack,
  action: 'CREATE' | 'UPDATE' | 'DELETE',
  resource: StackResource,
  work: () => Generator<undefined, void>,
): Generator<undefined, void> {
  stack.record(`${action}_IN_PROGRESS`, { resource });
  const giveUp = stack.now + attempt;
  yield;
  try {
    const planned = stack.takePlannedFailure(resource, action);
    if (planned) throw new Error(planned.reason);
    for (const steps = work(); !steps.next().done; yield) {
      if (stack.isCancelled) throw new Error('Resource creation cancelled');
      if (stack.now > giveUp) throw new Error('Exceeded attempts to wait');
    }
    if (stack.isCancelled) throw new Error('Resource creation cancelled');
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
