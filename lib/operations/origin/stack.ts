import type { Stack, StackResourceSummary } from '@aws-sdk/client-cloudformation';
import { callAws } from '../aws';
import { CommandFailed } from '../failure';
import type { OriginApis } from './apis';

/** The stack parameter that says where the gateway stands: a zone's number, or `none`. */
export const zoneParameter = 'WebhookOriginZone';
export const noZone = 'none';

/** What a stack says of its webhook origin. */
export interface OriginStack {
  /** ARN, which names this stack and no later one of the same name. */
  readonly id: string;
  readonly name: string;
  readonly region: string;
  readonly status: string;
  /** A zone's number, or `none`. */
  readonly zone: string;
  /** The output `WebhookOriginAddress`. */
  readonly address: string;
  readonly parameters: readonly string[];
  readonly capabilities: Stack['Capabilities'];
}

/** One of a stack's resources that exist. */
export interface StackResource {
  readonly logicalId: string;
  readonly type: string;
  readonly physicalId: string;
}

/** @throws CommandFailed when there is no such stack, or it is no stack with a webhook origin. */
export async function describeStack({ cloudFormation, target }: OriginApis): Promise<OriginStack> {
  const { DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  const { stackId: name, region } = target.environment;
  const { Stacks } = await callAws(target, 'cloudformation:DescribeStacks', (options) =>
    cloudFormation.send(new DescribeStacksCommand({ StackName: name }), options),
  );
  const stack = Stacks?.[0];
  const zone = stack?.Parameters?.find(({ ParameterKey }) => ParameterKey === zoneParameter)?.ParameterValue;
  const address = stack?.Outputs?.find(({ OutputKey }) => OutputKey === 'WebhookOriginAddress')?.OutputValue;
  if (!stack?.StackId || !zone || !address) {
    throw new CommandFailed(
      `Stack ${name} has no parameter ${zoneParameter} or no output WebhookOriginAddress.`,
      'The stack was deployed by another version: deploy this one, or use the command line of that version.',
    );
  }
  return {
    id: stack.StackId,
    name,
    region,
    status: stack.StackStatus ?? '',
    zone,
    address,
    parameters: stack.Parameters?.flatMap(({ ParameterKey }) => ParameterKey ?? []) ?? [],
    capabilities: stack.Capabilities,
  };
}

/** All of a stack's resources: it has more than the 100 that DescribeStackResources returns. */
export async function listResources({
  cloudFormation,
  target,
}: OriginApis): Promise<readonly StackResource[]> {
  const { paginateListStackResources } = await import('@aws-sdk/client-cloudformation');
  const summaries = await callAws(target, 'cloudformation:ListStackResources', async (options) => {
    const found: StackResourceSummary[] = [];
    const pages = paginateListStackResources(
      { client: cloudFormation },
      { StackName: target.environment.stackId },
      options,
    );
    for await (const page of pages) found.push(...(page.StackResourceSummaries ?? []));
    return found;
  });
  return summaries.flatMap(({ LogicalResourceId, ResourceType, PhysicalResourceId, ResourceStatus }) =>
    LogicalResourceId && ResourceType && PhysicalResourceId && ResourceStatus !== 'DELETE_COMPLETE'
      ? [{ logicalId: LogicalResourceId, type: ResourceType, physicalId: PhysicalResourceId }]
      : [],
  );
}
