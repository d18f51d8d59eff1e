import type { Stack } from '@aws-sdk/client-cloudformation';
import { callAws } from '../aws';
import { CommandFailed } from '../failure';
import { listStackResources, type StackResource } from '../stack-resources';
import type { OriginApis } from './apis';
import type { Place } from './place';

/** The stack parameter that says where the gateway stands: a zone's number, or `none`. */
export const zoneParameter = 'WebhookOriginZone';
/** The one that says whether it has the reserve address: `yes` or `no`. Only of a row that asks for a reserve. */
export const reserveParameter = 'WebhookOriginUsesReserve';

/** What a stack says of its webhook origin. */
export interface OriginStack extends Place {
  /** ARN, which names this stack and no later one of the same name. */
  readonly id: string;
  readonly name: string;
  readonly region: string;
  readonly status: string;
  /** The output `WebhookOriginAddress`: the one address. */
  readonly address: string;
  /** The output `WebhookOriginReserveAddress`. Absent without a reserve. */
  readonly reserveAddress: string | undefined;
  readonly parameters: readonly string[];
  readonly capabilities: Stack['Capabilities'];
}

/** The address that webhooks come from at a place, where a gateway has it. */
export const addressAt = (stack: OriginStack, { reserve }: Place = stack): string =>
  (reserve ? stack.reserveAddress : undefined) ?? stack.address;

/** @throws CommandFailed when there is no such stack, or it is no stack with a webhook origin. */
export async function describeStack({ cloudFormation, target }: OriginApis): Promise<OriginStack> {
  const { DescribeStacksCommand } = await import('@aws-sdk/client-cloudformation');
  const { stackId: name, region } = target.environment;
  const { Stacks } = await callAws(target, 'cloudformation:DescribeStacks', (options) =>
    cloudFormation.send(new DescribeStacksCommand({ StackName: name }), options),
  );
  const stack = Stacks?.[0];
  const parameter = (name: string) =>
    stack?.Parameters?.find(({ ParameterKey }) => ParameterKey === name)?.ParameterValue;
  const output = (name: string) => stack?.Outputs?.find(({ OutputKey }) => OutputKey === name)?.OutputValue;
  const zone = parameter(zoneParameter);
  const address = output('WebhookOriginAddress');
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
    reserve: parameter(reserveParameter) === 'yes',
    address,
    reserveAddress: output('WebhookOriginReserveAddress'),
    parameters: stack.Parameters?.flatMap(({ ParameterKey }) => ParameterKey ?? []) ?? [],
    capabilities: stack.Capabilities,
  };
}

export function listResources({ cloudFormation, target }: OriginApis): Promise<readonly StackResource[]> {
  return callAws(target, 'cloudformation:ListStackResources', (options) =>
    listStackResources(cloudFormation, target.environment.stackId, options),
  );
}
