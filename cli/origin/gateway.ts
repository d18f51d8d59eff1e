import type { Address } from '@aws-sdk/client-ec2';
import { callAws } from '../aws';
import { CommandFailed } from '../failure';
import type { StackResource } from '../stack-resources';
import type { OriginApis } from './apis';

/** The NAT gateway of the stack. */
export interface Gateway {
  readonly id: string;
  /** EC2's: `pending`, `available`, `failed`, `deleting` or `deleted`. */
  readonly state: string;
  readonly subnetId: string;
  readonly availabilityZone: string;
  /** The public IPv4 address that it sends from. */
  readonly address: string | undefined;
}

/** The Elastic IP behind the stack's output. */
export interface OriginAddress {
  readonly allocationId: string;
  readonly address: string;
  /** What holds it: a network interface of a gateway or of something else. */
  readonly heldBy: string | undefined;
}

/** EC2's state of a gateway that CloudFormation lists and EC2 no longer knows. */
const gone = 'deleted';

/** @throws CommandFailed when the account has no such Elastic IP in the region. */
export async function readAddress({ ec2, target }: OriginApis, address: string): Promise<OriginAddress> {
  const { DescribeAddressesCommand } = await import('@aws-sdk/client-ec2');
  const request = new DescribeAddressesCommand({ Filters: [{ Name: 'public-ip', Values: [address] }] });
  const { Addresses } = await callAws(target, 'ec2:DescribeAddresses', (options) =>
    ec2.send(request, options),
  );
  const found = Addresses?.[0];
  if (!found?.AllocationId) {
    throw new CommandFailed(
      `The account has no Elastic IP ${address} in ${target.environment.region}: it was released or moved to another account.`,
      'Look for it before anything else is changed: "Keeping the address" in docs/runbook.md.',
    );
  }
  return { allocationId: found.AllocationId, address, heldBy: holderOf(found) };
}

/** The gateway that the stack has now; null when it has none. */
export async function readGateway(
  { ec2, target }: OriginApis,
  resources: readonly StackResource[],
): Promise<Gateway | null> {
  const id = resources.find(({ type }) => type === 'AWS::EC2::NatGateway')?.physicalId;
  if (id === undefined) return null;
  const { DescribeNatGatewaysCommand, DescribeSubnetsCommand } = await import('@aws-sdk/client-ec2');
  const gateways = new DescribeNatGatewaysCommand({ Filter: [{ Name: 'nat-gateway-id', Values: [id] }] });
  const { NatGateways } = await callAws(target, 'ec2:DescribeNatGateways', (options) =>
    ec2.send(gateways, options),
  );
  const { State: state = gone, SubnetId: subnetId = '', NatGatewayAddresses } = NatGateways?.[0] ?? {};
  const subnets = new DescribeSubnetsCommand({ Filters: [{ Name: 'subnet-id', Values: [subnetId] }] });
  const { Subnets } = await callAws(target, 'ec2:DescribeSubnets', (options) => ec2.send(subnets, options));
  return {
    id,
    state,
    subnetId,
    availabilityZone: Subnets?.[0]?.AvailabilityZone ?? '',
    address: NatGatewayAddresses?.find(({ IsPrimary }) => IsPrimary !== false)?.PublicIp,
  };
}

/** The public subnet of a zone by its number, as the VPC's construct calls it. */
export const publicSubnetOf = (zone: string, resources: readonly StackResource[]): string | undefined =>
  resources.find(
    ({ type, logicalId }) =>
      type === 'AWS::EC2::Subnet' && logicalId.startsWith(`NetworkVpcPublicSubnet${zone}Subnet`),
  )?.physicalId;

function holderOf({ AssociationId, InstanceId, NetworkInterfaceId }: Address): string | undefined {
  return AssociationId && (InstanceId ?? NetworkInterfaceId ?? AssociationId);
}
