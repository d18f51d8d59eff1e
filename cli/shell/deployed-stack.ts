import type { CloudFormation, Stack } from '@aws-sdk/client-cloudformation';
import { callAws, callAwsPages, clientSettings, unlessRefused } from './aws';
import { CommandFailed } from './failure';

export async function openCloudFormation(region: string): Promise<CloudFormation> {
  const { CloudFormation } = await import('@aws-sdk/client-cloudformation');
  // Eight attempts: all our calls are idempotent, updates by their token.
  return new CloudFormation({ ...clientSettings(region), maxAttempts: 8 });
}

export async function findStack(client: CloudFormation, StackName: string): Promise<Stack | undefined> {
  // CloudFormation has no separate error for a missing stack.
  const answer = await unlessRefused(/^ValidationError$/, () =>
    callAws(client, 'describeStacks', { StackName }),
  );
  return answer?.Stacks?.[0];
}

/** @returns undefined if there is no such stack, or only a change set that was never executed */
export async function findDeployed(client: CloudFormation, name: string): Promise<Stack | undefined> {
  const stack = await findStack(client, name);
  return stack?.StackStatus === 'REVIEW_IN_PROGRESS' ? undefined : stack;
}

export async function requireDeployed(client: CloudFormation, name: string): Promise<Stack> {
  const stack = await findDeployed(client, name);
  if (stack) return stack;
  throw new CommandFailed(
    `This account has no stack ${name} in ${await client.config.region()}.`,
    'Deploy it, or sign in to the account that has it.',
  );
}

/** The values of a stack's outputs, by name. */
export const outputsOf = ({ Outputs = [] }: Partial<Stack>): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(Outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));

export interface StackResource {
  readonly logicalId: string;
  readonly type: string;
  readonly physicalId: string;
}

/** A stack's existing resources: all pages, because DescribeStackResources returns the first 100 only. */
export async function listResources(client: CloudFormation, StackName: string) {
  const pages = await callAwsPages(client, 'listStackResources', { StackName });
  return pages
    .flatMap(({ StackResourceSummaries = [] }) => StackResourceSummaries)
    .flatMap(({ LogicalResourceId, ResourceType, PhysicalResourceId, ResourceStatus }): StackResource[] =>
      LogicalResourceId && ResourceType && PhysicalResourceId && ResourceStatus !== 'DELETE_COMPLETE'
        ? [{ logicalId: LogicalResourceId, type: ResourceType, physicalId: PhysicalResourceId }]
        : [],
    );
}
