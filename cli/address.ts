import { IPv4 } from 'ipaddr.js';

/**
 * What an address can be for an allow-list: `public`; one that is reserved for `documentation` (RFC 5737);
 * `loopback`, as this machine's own environments have; `unusable` (private, multicast and the like) or no IPv4
 * address at all (`malformed`).
 */
type KindOfAddress = 'public' | 'documentation' | 'loopback' | 'unusable' | 'malformed';

const documentation = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'].map((cidr) =>
  IPv4.parseCIDR(cidr),
);

export function kindOfAddress(text: string): KindOfAddress {
  if (!IPv4.isValidFourPartDecimal(text)) return 'malformed';
  const address = IPv4.parse(text);
  const range = address.range();
  if (range === 'unicast') return 'public';
  if (range === 'loopback') return 'loopback';
  return documentation.some((network) => address.match(network)) ? 'documentation' : 'unusable';
}
