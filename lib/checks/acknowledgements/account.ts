import { Aws } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import { acknowledge, nistAndPci } from './acknowledge';
import { whyInlinePolicy } from './functions';

interface Permission {
  readonly resources: readonly string[];
  /** Why a resource has a `*`. A `*` without a reason stays a finding. */
  readonly wildcard?: string;
}

/** Acknowledges what the rule packs find on a role of a workflow. */
export function acknowledgeGithubRole(role: IConstruct, permissions: readonly Permission[]): void {
  acknowledge(role, nistAndPci('IAMNoInlinePolicy'), whyInlinePolicy);
  for (const { resources, wildcard } of permissions) {
    if (wildcard !== undefined) acknowledge(role, resources.map(wildcardFinding), wildcard);
  }
}

const wildcardFinding = (resource: string): string => {
  const named = resource
    .replaceAll(Aws.PARTITION, '<AWS::Partition>')
    .replaceAll(Aws.ACCOUNT_ID, '<AWS::AccountId>');
  return `AwsSolutions-IAM5[Resource::${named}]`;
};
