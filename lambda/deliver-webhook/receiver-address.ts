import { promises as dns } from 'node:dns';
import { isIPv4 } from 'node:net';
import * as ipaddr from 'ipaddr.js';
import { fail, ok, type Result } from '../../domain/result';

/** Looks up the IPv4 addresses of a name; rejects with a code of `node:dns`. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<readonly string[]>;

export type AddressRefusal = 'name_not_found' | 'name_lookup_failed' | 'address_not_public';

/**
 * The one address to connect to for a receiver's name. The name is looked up once, and each of its addresses must be a
 * public unicast IPv4 address, or all are refused. Of several the preferred one is chosen, otherwise one at random, so that a
 * dead one does not get every attempt.
 */
export async function findAddress(
  name: string,
  options: {
    readonly resolve: Resolve;
    readonly signal: AbortSignal;
    readonly random: () => number;
    readonly prefers: (address: string) => boolean;
  },
): Promise<Result<string, AddressRefusal>> {
  let addresses: readonly string[];
  try {
    addresses = await options.resolve(name, options.signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return fail(code === 'ENOTFOUND' || code === 'ENODATA' ? 'name_not_found' : 'name_lookup_failed');
  }
  if (!addresses.every(isPublicAddress)) return fail('address_not_public');
  const address =
    addresses.find(options.prefers) ?? addresses[Math.floor(options.random() * addresses.length)];
  return address === undefined ? fail('name_not_found') : ok(address);
}

/**
 * Whether it is an IPv4 address that anyone on the internet could have: none of the special-purpose ranges that
 * `ipaddr.js` knows (https://www.iana.org/assignments/iana-ipv4-special-registry). The VPC's own ranges and the metadata
 * services (169.254.0.0/16) are among those.
 */
function isPublicAddress(address: string): boolean {
  return isIPv4(address) && ipaddr.IPv4.parse(address).range() === 'unicast';
}

/**
 * Asks the machine's DNS servers for A records only: the VPC has no IPv6, so no connection uses an AAAA record. Unlike
 * `dns.lookup` it reads no hosts file, appends no search domain, occupies no thread, and can be cancelled.
 *
 * @param servers addresses, with ports. @default - the machine's
 */
export async function resolveByDns(
  name: string,
  signal: AbortSignal,
  servers?: readonly string[],
): Promise<readonly string[]> {
  const resolver = new dns.Resolver({ timeout: 2_000, tries: 2 });
  if (servers) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await resolver.resolve4(name);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
