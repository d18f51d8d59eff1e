import type { CloudFormation, Stack } from '@aws-sdk/client-cloudformation';
import { IPv4 } from 'ipaddr.js';
import { callAws } from '../shell/aws';
import { type DeployedEnvironment, otherVersionRemedy } from '../shell/deployed-environment';
import {
  listResources,
  openCloudFormation,
  outputsOf,
  requireDeployed,
  type StackResource,
} from '../shell/deployed-stack';
import { CommandFailed, UsageError } from '../shell/failure';

/** Accepts documentation addresses (RFC 5737), which are `reserved`: examples use them. */
export const isOriginAddress = (text: string): boolean =>
  IPv4.isValidFourPartDecimal(text) && ['unicast', 'reserved'].includes(IPv4.parse(text).range());

export const noZone = 'none';

export interface OriginLocation {
  /** A zone's number, or `none`. */
  readonly zone: string;
  readonly reserve: boolean;
}

export const formatLocation = ({ zone, reserve }: OriginLocation): string =>
  `zone ${zone}${reserve && zone !== noZone ? ' on the reserve address' : ''}`;

/** The stack's parameters: a zone's number or `none`; `yes` or `no`, only in stacks with a reserve. */
export const parameterNames = { zone: 'WebhookOriginZone', reserve: 'WebhookOriginUsesReserve' } as const;

export interface OriginStack extends OriginLocation {
  readonly status: string;
  readonly address: string;
  readonly reserveAddress: string | undefined;
  readonly parameters: readonly string[];
  readonly capabilities: Stack['Capabilities'];
}

export const addressAt = (stack: OriginStack, { reserve }: OriginLocation = stack): string =>
  (reserve ? stack.reserveAddress : undefined) ?? stack.address;

export type OriginClients = Awaited<ReturnType<typeof openOrigin>>;

export async function openOrigin(target: DeployedEnvironment) {
  if (target.local)
    throw new UsageError(
      'This machine has no zones or gateways: the command is for deployed environments.',
      'Give the outputs file of the deployment with --outputs.',
    );
  const { EC2 } = await import('@aws-sdk/client-ec2');
  const { Lambda } = await import('@aws-sdk/client-lambda');
  const { stackId, region } = target.environment;
  return {
    target,
    stackId,
    cloudFormation: await openCloudFormation(region),
    ec2: new EC2({ ...target.clientSettings('ec2'), maxAttempts: 8 }),
    lambda: new Lambda({ ...target.clientSettings('lambda'), maxAttempts: 8 }),
  };
}

export async function readOriginStack(client: CloudFormation, stackId: string): Promise<OriginStack> {
  const stack = await requireDeployed(client, stackId);
  const { StackStatus = '', Parameters = [], Capabilities } = stack;
  const parameters = Object.fromEntries(
    Parameters.map(({ ParameterKey = '', ParameterValue }) => [ParameterKey, ParameterValue]),
  );
  const { WebhookOriginAddress: address, WebhookOriginReserveAddress: reserveAddress } = outputsOf(stack);
  const zone = parameters[parameterNames.zone];
  if (!zone || !address)
    throw new CommandFailed(
      `Stack ${stackId} has no parameter ${parameterNames.zone} or no output WebhookOriginAddress.`,
      otherVersionRemedy,
    );
  return {
    status: StackStatus,
    zone,
    reserve: parameters[parameterNames.reserve] === 'yes',
    address,
    reserveAddress,
    parameters: Object.keys(parameters),
    capabilities: Capabilities,
  };
}

export async function requireElasticIp({ ec2, target }: OriginClients, address: string): Promise<void> {
  const Filters = [{ Name: 'public-ip', Values: [address] }];
  const { Addresses } = await callAws(ec2, 'describeAddresses', { Filters });
  if (Addresses?.[0]?.AllocationId) return;
  throw new CommandFailed(
    `The account has no Elastic IP ${address} in ${target.environment.region}: it was released or moved to another account.`,
    'Find it first: "Keeping the address" in docs/runbook/planned-work.md.',
  );
}

type Gateway = NonNullable<Awaited<ReturnType<typeof readGateway>>>;
type Consumer = Awaited<ReturnType<typeof readConsumers>>[number];

/** The webhook origin according to CloudFormation, EC2 and Lambda. Undefined: unknown, because a call failed. */
export interface Origin {
  readonly stack: OriginStack | undefined;
  readonly resources: readonly StackResource[] | undefined;
  readonly gateway: Gateway | null | undefined;
  readonly consumers: readonly Consumer[] | undefined;
  readonly faults: readonly string[];
}

/** Makes a call, and may return undefined when it fails. */
export type Tolerant = <T>(call: () => Promise<T>) => Promise<T | undefined>;

/** @param attempt @default - a call that fails is thrown */
export async function readOrigin(
  clients: OriginClients,
  attempt: Tolerant = (call) => call(),
): Promise<Origin> {
  const { cloudFormation, stackId } = clients;
  const [stack, resources] = await Promise.all([
    attempt(() => readOriginStack(cloudFormation, stackId)),
    attempt(() => listResources(cloudFormation, stackId)),
  ]);
  const [gateway, consumers] = await Promise.all([
    resources && attempt(() => readGateway(clients, resources)),
    resources && attempt(() => readConsumers(clients, resources)),
  ]);
  const faults = stack ? findFaults(stack, resources ?? [], gateway, consumers ?? []) : [];
  return { stack, resources, gateway, consumers, faults };
}

async function readGateway({ ec2 }: OriginClients, resources: readonly StackResource[]) {
  const id = resources.find(({ type }) => type === 'AWS::EC2::NatGateway')?.physicalId;
  if (id === undefined) return null;
  const Filter = [{ Name: 'nat-gateway-id', Values: [id] }];
  const { NatGateways } = await callAws(ec2, 'describeNatGateways', { Filter });
  // EC2 lists a deleted gateway for about an hour.
  // https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-working-with.html
  const { State: state = 'deleted', SubnetId: subnetId = '', NatGatewayAddresses } = NatGateways?.[0] ?? {};
  const Filters = [{ Name: 'subnet-id', Values: [subnetId] }];
  const { Subnets } = await callAws(ec2, 'describeSubnets', { Filters });
  return {
    id,
    /** `pending`, `available`, `failed`, `deleting` or `deleted`. */
    state,
    subnetId,
    availabilityZone: Subnets?.[0]?.AvailabilityZone ?? '',
    address: NatGatewayAddresses?.find(({ IsPrimary }) => IsPrimary !== false)?.PublicIp,
  };
}

/** The functions that read the stack's queues: one function reads the delivery queue and the retry queue. */
const readConsumers = ({ lambda }: OriginClients, resources: readonly StackResource[]) =>
  Promise.all(
    resources
      .filter(({ type }) => type === 'AWS::Lambda::EventSourceMapping')
      .map(async ({ physicalId: UUID }) => {
        const { FunctionArn, EventSourceArn, State } = await callAws(lambda, 'getEventSourceMapping', {
          UUID,
        });
        const nameIn = (arn = '') => arn.split(':').at(-1) ?? '';
        return { functionName: nameIn(FunctionArn), queueName: nameIn(EventSourceArn), state: State ?? '' };
      }),
  );

function findFaults(
  stack: OriginStack,
  resources: readonly StackResource[],
  gateway: Origin['gateway'],
  consumers: readonly Consumer[],
): string[] {
  if (stack.zone === noZone) return ['no gateway has the address'];
  if (gateway === null) return ['the stack has no gateway'];
  const zoneSubnet = resources.find(
    ({ type, logicalId }) =>
      type === 'AWS::EC2::Subnet' && logicalId.startsWith(`NetworkVpcPublicSubnet${stack.zone}Subnet`),
  )?.physicalId;
  const { id, state, subnetId, address } = gateway ?? {};
  return [
    ...(state && state !== 'available' ? [`gateway ${id} is ${state}`] : []),
    ...(gateway && subnetId !== zoneSubnet
      ? [`gateway ${id} is in subnet ${subnetId}, not in the subnet of zone ${stack.zone}`]
      : []),
    ...(gateway && address !== addressAt(stack)
      ? [`gateway ${id} sends from ${address ?? 'no address'}, not ${addressAt(stack)}`]
      : []),
    ...consumers
      .filter(({ state }) => state !== 'Enabled')
      .map((each) => `the consumer ${each.functionName} of ${each.queueName} is ${each.state.toLowerCase()}`),
  ];
}
