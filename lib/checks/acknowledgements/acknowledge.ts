import { CfnResource, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Acknowledges rules on one resource: synthesis goes on despite them, and fails on all others. Nothing below or beside
 * the resource is covered, so each resource has its own reason.
 *
 * @param construct the resource, or the construct whose default child it is
 * @param ruleIds as the report names them, such as `AwsSolutions-IAM5[Resource::*]`
 * @param reason why it is right here, for reviewers
 * @throws Error when the construct has no resource
 */
export function acknowledge(construct: IConstruct, ruleIds: readonly string[], reason: string): void {
  const resource = CfnResource.isCfnResource(construct) ? construct : construct.node.defaultChild;
  if (!(resource instanceof CfnResource)) {
    throw new Error(`${construct.node.path} has no CloudFormation resource to acknowledge rules on.`);
  }
  Validations.of(resource).acknowledge(...ruleIds.map((id) => ({ id, reason })));
}

/** The ids of a rule that the packs of NIST and of PCI both have. */
export function nistAndPci(rule: string): readonly string[] {
  return [`NIST.800.53.R5-${rule}`, `PCI.DSS.321-${rule}`];
}
