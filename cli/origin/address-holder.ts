import type { NatGateway } from '@aws-sdk/client-ec2';
import { AwsCallFailed, callAws } from '../aws';
import { collect } from '../pages';
import type { OriginApis } from './apis';
import { readAddress } from './gateway';
import type { OriginStack } from './stack';

/** What holds an Elastic IP, as EC2 has it, whether or not CloudFormation still knows of it. */
export interface Holder {
  readonly address: string;
  readonly allocationId: string;
  /** The network interface, or what else EC2 names. */
  readonly id: string;
  /** The NAT gateway that the interface belongs to. Absent when it belongs to something else. */
  readonly gateway: HoldingGateway | undefined;
}

export interface HoldingGateway {
  readonly id: string;
  /** EC2's: `pending`, `available`, `failed`, `deleting` or `deleted`. */
  readonly state: string;
  readonly tags: Readonly<Record<string, string>>;
}

/** @returns `undefined` when the address is free */
export async function readHolder(apis: OriginApis, address: string): Promise<Holder | undefined> {
  const { allocationId, heldBy } = await readAddress(apis, address);
  if (heldBy === undefined) return undefined;
  const { ec2, target } = apis;
  const { paginateDescribeNatGateways } = await import('@aws-sdk/client-ec2');
  // All of the region: no filter is by address, and a gateway that is not of this stack has to be named too.
  const gateways = await callAws(target, 'ec2:DescribeNatGateways', (options) =>
    collect(paginateDescribeNatGateways({ client: ec2 }, {}, options), ({ NatGateways }) => NatGateways),
  );
  const found =
    gateways.find((gateway) => has(gateway, ({ NetworkInterfaceId }) => NetworkInterfaceId === heldBy)) ??
    gateways.find(
      (gateway) =>
        // These keep the address in their description, and no longer hold it.
        !['failed', 'deleted'].includes(gateway.State ?? '') &&
        has(gateway, ({ AllocationId }) => AllocationId === allocationId),
    );
  return { address, allocationId, id: heldBy, gateway: found && readGateway(found) };
}

type GatewayAddress = NonNullable<NatGateway['NatGatewayAddresses']>[number];

const has = ({ NatGatewayAddresses = [] }: NatGateway, is: (address: GatewayAddress) => boolean): boolean =>
  NatGatewayAddresses.some(is);

function readGateway({ NatGatewayId: id = '', State, Tags = [] }: NatGateway): HoldingGateway {
  const tags = Object.fromEntries(Tags.map(({ Key = '', Value = '' }) => [Key, Value]));
  return { id, state: State ?? 'unknown', tags };
}

/**
 * Whether CloudFormation made the gateway as this very stack's webhook origin: only it can set tags that begin so.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-resource-tags.html
 */
export const isOfStack = ({ tags }: HoldingGateway, { id }: OriginStack): boolean =>
  tags['aws:cloudformation:stack-id'] === id &&
  tags['aws:cloudformation:logical-id'] === 'WebhookOriginNatGateway';

/** What holds an address now, for a person who waits: EC2 may be what does not answer. */
export async function tellHolder(apis: OriginApis, address: string): Promise<string> {
  try {
    const holder = await readHolder(apis, address);
    return holder ? `${holderInWords(holder)}.` : `EC2 says that ${address} is free.`;
  } catch (error) {
    if (error instanceof AwsCallFailed) return `EC2 does not say what holds ${address}: ${error.message}`;
    throw error;
  }
}

export const holderInWords = ({ address, allocationId, id, gateway }: Holder): string =>
  `${address} (${allocationId}) is held by ${gateway ? `gateway ${gateway.id}, which is ${gateway.state}, through its interface ${id}` : id}`;

/** Idempotent: a gateway that is being deleted, or was, is no error. */
export async function deleteGateway({ ec2, target }: OriginApis, NatGatewayId: string): Promise<void> {
  const { DeleteNatGatewayCommand } = await import('@aws-sdk/client-ec2');
  await callAws(target, 'ec2:DeleteNatGateway', async (options) => {
    try {
      await ec2.send(new DeleteNatGatewayCommand({ NatGatewayId }), options);
    } catch (error) {
      if (!(error instanceof Error && error.name === 'NatGatewayNotFound')) throw error;
    }
  });
}
