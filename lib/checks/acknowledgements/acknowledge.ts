import { CfnResource, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/**
 * Accepts findings on one resource: synthesis goes on without them, and fails on all others. Nothing below or beside
 * the resource is covered, so each resource has its own reason.
 *
 * @param construct the resource, or the construct whose own resource it is
 * @param findings as the report names them, such as `AwsSolutions-IAM5[Resource::*]`
 * @param reason what makes it right here, for whoever reviews it
 * @throws Error when the construct has no resource of its own
 */
export function acknowledge(construct: IConstruct, findings: readonly string[], reason: string): void {
  const resource = CfnResource.isCfnResource(construct) ? construct : construct.node.defaultChild;
  if (!(resource instanceof CfnResource)) {
    throw new Error(
      `${construct.node.path} has no CloudFormation resource of its own to accept findings on.`,
    );
  }
  Validations.of(resource).acknowledge(...findings.map((id) => ({ id, reason })));
}

/** The ids of a rule that the packs of NIST and of PCI both have. */
export function nistAndPci(rule: string): readonly string[] {
  return [`NIST.800.53.R5-${rule}`, `PCI.DSS.321-${rule}`];
}
