import type { Stack, StackResource } from './stack';
import { change, ResourceFailed, remove } from './steps';
import type { Json } from './template';

/** What an update did so far, the last first. */
export interface Rollback {
  /** What was changed, and how it was before. */
  readonly reverts: { readonly resource: StackResource; readonly properties: Json }[];
  /** What was made, and what it was to replace. */
  readonly made: { readonly resource: StackResource; readonly former: StackResource | undefined }[];
}

/**
 * What was changed is changed back. Then the stack can be used, and what was made is deleted: in that cleanup a failure
 * is no failure of the rollback.
 *
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
 */
export function* rollBack(stack: Stack, rollback: Rollback, reason: string): Generator<undefined, void> {
  stack.isCancelled = false;
  stack.record('UPDATE_ROLLBACK_IN_PROGRESS', { reason });
  yield;
  const failed: Rollback['reverts'] = [];
  for (const { resource, former } of rollback.made) {
    if (former) stack.resources.set(resource.logicalId, former);
    else stack.resources.delete(resource.logicalId);
  }
  for (const revert of rollback.reverts) {
    try {
      yield* change(stack, revert.resource, revert.properties);
    } catch (error) {
      if (!(error instanceof ResourceFailed)) throw error;
      failed.push(revert);
    }
  }
  if (failed.length > 0) {
    stack.failedRollback = { reverts: failed, made: rollback.made };
    const names = failed.map(({ resource }) => resource.logicalId).join(', ');
    return stack.record('UPDATE_ROLLBACK_FAILED', {
      reason: `The following resource(s) failed to update: [${names}].`,
    });
  }
  stack.failedRollback = undefined;
  stack.record('UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS');
  yield;
  for (const { resource } of rollback.made) if (resource.physicalId) yield* remove(stack, resource);
  stack.record('UPDATE_ROLLBACK_COMPLETE');
}

/**
 * Goes on with a rollback that failed. CloudFormation records a skipped resource as it was before the update, whatever
 * its service has.
 *
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ContinueUpdateRollback.html
 */
export function* continueRollback(
  stack: Stack,
  rollback: Rollback,
  skipped: readonly string[],
): Generator<undefined, void> {
  const isSkipped = ({ resource }: Rollback['reverts'][number]) => skipped.includes(resource.logicalId);
  for (const { resource, properties } of rollback.reverts.filter(isSkipped)) {
    resource.properties = properties;
    stack.record('UPDATE_COMPLETE', { resource });
  }
  const reverts = rollback.reverts.filter((revert) => !isSkipped(revert));
  yield* rollBack(stack, { ...rollback, reverts }, 'User Initiated');
}
