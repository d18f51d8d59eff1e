import { CfnResource } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** Gives a resource a logical id that does not depend on its scope, so that moving code never replaces its state. */
export function withStableLogicalId<Resource extends IConstruct>(resource: Resource, logicalId: string) {
  const element = CfnResource.isCfnResource(resource) ? resource : resource.node.defaultChild;
  if (!(element instanceof CfnResource)) {
    throw new Error(`${resource.node.path} has no CloudFormation resource to be called ${logicalId}.`);
  }
  element.overrideLogicalId(logicalId);
  return resource;
}

/** `wallet-uae` as `WalletUae`. */
export const pascalCase = (name: string): string =>
  name.replace(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
