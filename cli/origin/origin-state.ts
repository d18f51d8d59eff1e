import type { StackResource } from '../stack-resources';
import type { OriginApis } from './apis';
import { type Consumer, readConsumers } from './consumers';
import { type Gateway, type OriginAddress, publicSubnetOf, readAddress, readGateway } from './gateway';
import { noZone } from './place';
import { addressAt, listResources, type OriginStack } from './stack';

/** The webhook origin as EC2 and Lambda have it, not as the stack says that it should be. */
export interface OriginState {
  /** The one that is in use: the one address, or the reserve. */
  readonly address: OriginAddress;
  /** Null when the stack has none. */
  readonly gateway: Gateway | null;
  readonly consumers: readonly Consumer[];
  readonly resources: readonly StackResource[];
}

export async function readOriginState(apis: OriginApis, stack: OriginStack): Promise<OriginState> {
  const resources = await listResources(apis);
  const [address, gateway, consumers] = await Promise.all([
    readAddress(apis, addressAt(stack)),
    readGateway(apis, resources),
    readConsumers(apis, resources),
  ]);
  return { address, gateway, consumers, resources };
}

/** As much as could be learned. */
type Known<T> = { readonly [key in keyof T]?: T[key] | undefined };

/** What is not as it should be while the stack's zone is `zone`, of what is known. Empty: everything is. */
export function faultsOf(
  { address, gateway, consumers = [], resources = [] }: Known<OriginState>,
  zone: string,
): string[] {
  if (zone === noZone) return ['no gateway holds the address'];
  if (gateway === null) return ['the stack has no gateway'];
  const faults: string[] = [];
  if (gateway && gateway.state !== 'available') faults.push(`gateway ${gateway.id} is ${gateway.state}`);
  if (gateway && gateway.subnetId !== publicSubnetOf(zone, resources))
    faults.push(`gateway ${gateway.id} is in subnet ${gateway.subnetId}, not in the one of zone ${zone}`);
  if (gateway && address && gateway.address !== address.address)
    faults.push(
      `gateway ${gateway.id} sends from ${gateway.address ?? 'no address'}, not ${address.address}`,
    );
  for (const { functionName, state } of consumers)
    if (state !== 'Enabled') faults.push(`the consumer ${functionName} is ${state.toLowerCase()}`);
  return faults;
}
