import type { Permissions } from '../iam/permissions';
import type { DeployedResources } from '../resource';

/**
 * EventBridge rules do not run locally.
 *
 * @throws Error if EventBridge may not invoke a rule's function
 */
export function checkRules(
  resources: DeployedResources,
  permissions: Pick<Permissions, 'authorizeService'>,
): void {
  for (const { logicalId, type, attributes, properties } of resources.values()) {
    if (type !== 'AWS::Events::Rule') continue;
    for (const { Arn } of properties.Targets) {
      const refusal = permissions.authorizeService('events.amazonaws.com', Arn, attributes.Arn);
      if (refusal !== undefined) throw new Error(`${logicalId}: ${refusal}`);
    }
  }
}
