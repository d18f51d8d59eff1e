import type { Stack } from '@aws-sdk/client-cloudformation';
import { callAws } from '../aws';
import { listStackResources, type StackResource } from '../deployed-stack';
import { CommandFailed } from '../failure';
import type { Target } from '../target';

/** A place of the webhook origin. */
export interface Place {
  /** A zone's number, or `none`. */
  readonly zone: string;
  /** Whether webhooks come from the reserve address. */
  readonly reserve: boolean;
}

/** The zone while the address is on no gateway. */
export const noZone = 'none';

export const formatPlace = ({ zone, reserve }: Place): string =>
  `zone ${zone}${reserve && zone !== noZone ? ' on the reserve address' : ''}`;

/** The stack's parameters: a zone's number or `none`; `yes` or `no`, in stacks with a reserve only. */
export const parameterNames = { zone: 'WebhookOriginZone', reserve: 'WebhookOriginUsesReserve' } as const;

/** What CloudFormation says of the webhook origin. */
export interface OriginStack extends Place {
  readonly status: string;
  /** The output `WebhookOriginAddress`: the one address. */
  readonly address: string;
  readonly reserveAddress: string | undefined;
  readonly parameters: readonly string[];
  readonly capabilities: Stack['Capabilities'];
}

/** The address that webhooks come from at a place. */
export const addressAt = (stack: OriginStack, { reserve }: Place = stack): string =>
  (reserve ? stack.reserveAddress : undefined) ?? stack.address;

export interface Gateway {
  readonly id: string;
  /** EC2's: `pending`, `available`, `failed`, `deleting` or `deleted`. */
  readonly state: string;
  readonly subnetId: string;
  readonly availabilityZone: string;
  readonly address: string | undefined;
}

/** A function that reads a queue. */
interface Consumer {
  readonly functionName: string;
  readonly queueName: string;
  /** Lambda's: `Enabled`, `Disabled`, or a state between the two. */
  readonly state: string;
}

export type OriginClients = Awaited<ReturnType<typeof openOriginClients>>;

export async function openOriginClients(target: Target) {
  const [{ CloudFormation }, { EC2 }, { Lambda }] = await Promise.all([
    import('@aws-sdk/client-cloudformation'),
    import('@aws-sdk/client-ec2'),
    import('@aws-sdk/client-lambda'),
  ]);
  return {
    target,
    cloudFormation: new CloudFormation({ ...target.clientSettings('cloudformation'), maxAttempts }),
    ec2: new EC2({ ...target.clientSettings('ec2'), maxAttempts }),
    lambda: new Lambda({ ...target.clientSettings('lambda'), maxAttempts }),
  };
}

/** All calls are idempotent, updates by their token. */
export const maxAttempts = 8;

/** @throws CommandFailed when there is no such stack, or it has no webhook origin */
export async function describeStack({ cloudFormation, target }: OriginClients): Promise<OriginStack> {
  const { stackId } = target.environment;
  const { Stacks } = await callAws(target, 'cloudformation:DescribeStacks', (options) =>
    cloudFormation.describeStacks({ StackName: stackId }, options),
  );
  const { StackStatus = '', Parameters = [], Outputs = [], Capabilities } = Stacks?.[0] ?? {};
  const parameters = new Map(
    Parameters.map(({ ParameterKey = '', ParameterValue }) => [ParameterKey, ParameterValue]),
  );
  const outputs = new Map(Outputs.map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]));
  const zone = parameters.get(parameterNames.zone);
  const address = outputs.get('WebhookOriginAddress');
  if (!zone || !address)
    throw new CommandFailed(
      `Stack ${stackId} has no parameter ${parameterNames.zone} or no output WebhookOriginAddress.`,
      'The stack was deployed by another version: deploy this one, or use the command line of that version.',
    );
  return {
    status: StackStatus,
    zone,
    reserve: parameters.get(parameterNames.reserve) === 'yes',
    address,
    reserveAddress: outputs.get('WebhookOriginReserveAddress'),
    parameters: [...parameters.keys()],
    capabilities: Capabilities,
  };
}

export const listResources = ({ cloudFormation, target }: OriginClients): Promise<readonly StackResource[]> =>
  callAws(target, 'cloudformation:ListStackResources', (options) =>
    listStackResources(cloudFormation, target.environment.stackId, options),
  );

/** @throws CommandFailed when the account does not have the Elastic IP any more */
export async function requireAddress({ ec2, target }: OriginClients, address: string): Promise<string> {
  const { Addresses } = await callAws(target, 'ec2:DescribeAddresses', (options) =>
    ec2.describeAddresses({ Filters: [{ Name: 'public-ip', Values: [address] }] }, options),
  );
  if (Addresses?.[0]?.AllocationId) return address;
  throw new CommandFailed(
    `The account has no Elastic IP ${address} in ${target.environment.region}: it was released or moved to another account.`,
    'Look for it before anything else is changed: "Keeping the address" in docs/runbook.md.',
  );
}

/** @returns null when the stack has no gateway */
export async function readGateway(
  { ec2, target }: OriginClients,
  resources: readonly StackResource[],
): Promise<Gateway | null> {
  const id = resources.find(({ type }) => type === 'AWS::EC2::NatGateway')?.physicalId;
  if (id === undefined) return null;
  const { NatGateways } = await callAws(target, 'ec2:DescribeNatGateways', (options) =>
    ec2.describeNatGateways({ Filter: [{ Name: 'nat-gateway-id', Values: [id] }] }, options),
  );
  // EC2 lists a deleted gateway for a while only.
  const { State = 'deleted', SubnetId = '', NatGatewayAddresses } = NatGateways?.[0] ?? {};
  const { Subnets } = await callAws(target, 'ec2:DescribeSubnets', (options) =>
    ec2.describeSubnets({ Filters: [{ Name: 'subnet-id', Values: [SubnetId] }] }, options),
  );
  return {
    id,
    state: State,
    subnetId: SubnetId,
    availabilityZone: Subnets?.[0]?.AvailabilityZone ?? '',
    address: NatGatewayAddresses?.find(({ IsPrimary }) => IsPrimary !== false)?.PublicIp,
  };
}

export async function readConsumers(
  { target, lambda }: OriginClients,
  resources: readonly StackResource[],
): Promise<readonly Consumer[]> {
  const mappings = resources.filter(({ type }) => type === 'AWS::Lambda::EventSourceMapping');
  return Promise.all(
    mappings.map(async ({ physicalId }) => {
      const { FunctionArn, EventSourceArn, State } = await callAws(
        target,
        'lambda:GetEventSourceMapping',
        (options) => lambda.getEventSourceMapping({ UUID: physicalId }, options),
      );
      const nameIn = (arn = '') => arn.split(':').at(-1) ?? '';
      return { functionName: nameIn(FunctionArn), queueName: nameIn(EventSourceArn), state: State ?? '' };
    }),
  );
}

/** What AWS has; undefined for what could not be read. */
interface OriginState {
  readonly gateway: Gateway | null | undefined;
  readonly consumers: readonly Consumer[] | undefined;
  readonly resources: readonly StackResource[] | undefined;
}

/** How the origin differs from what the stack's parameters promise. */
export function faultsOf(
  { gateway, consumers = [], resources = [] }: OriginState,
  { zone, address }: { readonly zone: string; readonly address: string },
): string[] {
  if (zone === noZone) return ['no gateway holds the address'];
  if (gateway === null) return ['the stack has no gateway'];
  const subnet = resources.find(
    ({ type, logicalId }) =>
      type === 'AWS::EC2::Subnet' && logicalId.startsWith(`NetworkVpcPublicSubnet${zone}Subnet`),
  );
  const faults: string[] = [];
  if (gateway && gateway.state !== 'available') faults.push(`gateway ${gateway.id} is ${gateway.state}`);
  if (gateway && gateway.subnetId !== subnet?.physicalId)
    faults.push(`gateway ${gateway.id} is in subnet ${gateway.subnetId}, not in the one of zone ${zone}`);
  if (gateway && gateway.address !== address)
    faults.push(`gateway ${gateway.id} sends from ${gateway.address ?? 'no address'}, not ${address}`);
  for (const { functionName, state } of consumers)
    if (state !== 'Enabled') faults.push(`the consumer ${functionName} is ${state.toLowerCase()}`);
  return faults;
}
