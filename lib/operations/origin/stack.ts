import type { Stack } from '@aws-sdk/client-cloudformation';
import { callAws } from '../aws';
import { CommandFailed } from '../failure';
import { listStackResources, type StackResource } from '../stack-resources';
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

export function listResources({ cloudFormation, target }: OriginApis): Promise<readonly StackResource[]> {
  return callAws(target, 'cloudformation:ListStackResources', (options) =>
    listStackResources(cloudFormation, target.environment.stackId, options),
  );
}
