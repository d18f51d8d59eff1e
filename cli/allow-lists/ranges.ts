import { IPv4 } from 'ipaddr.js';

/** One source in a receiver's list: an address, a network or a range. */
export interface AddressRange {
  /** As the list would say it: `203.0.113.7/32`, `203.0.113.0/24`, `203.0.113.1-203.0.113.9`. */
  readonly text: string;
  /** The first and the last address, as numbers. */
  readonly first: number;
  readonly last: number;
}

/**
 * An IPv4 address, alone, with a prefix length or a netmask (after a slash, or a blank as routers have it), or the first
 * of a range. Not one with a port behind it (a place to listen or to connect to), in a URL, or as a part of something
 * longer such as a version.
 */
const source =
  /(?<![\w.:/-])(\d{1,3}(?:\.\d{1,3}){3})(?:\/(\d{1,3}(?:\.\d{1,3}){3}|\d{1,2})|[ \t]+(255(?:\.\d{1,3}){3})|\s?-\s?(\d{1,3}(?:\.\d{1,3}){3}))?(?![\w:]|\.\d|[/-]\d)/g;

/** The sources that a piece of text names, without what is no address (`999.1.1.1`). */
export function rangesIn(text: string): AddressRange[] {
  return [...text.matchAll(source)].flatMap(([, address = '', network, mask, last]) => {
    if (!IPv4.isValidFourPartDecimal(address)) return [];
    if (last !== undefined) return between(address, last);
    return inNetwork(address, network ?? mask ?? '32');
  });
}

function between(first: string, last: string): AddressRange[] {
  if (!IPv4.isValidFourPartDecimal(last) || toNumber(first) > toNumber(last)) return [];
  return [{ text: `${first}-${last}`, first: toNumber(first), last: toNumber(last) }];
}

function inNetwork(address: string, network: string): AddressRange[] {
  const length = network.includes('.') ? maskLength(network) : Number(network);
  if (length === null || length > 32) return [];
  const size = 2 ** (32 - length);
  const first = Math.floor(toNumber(address) / size) * size;
  return [{ text: `${toText(first)}/${length}`, first, last: first + size - 1 }];
}

const maskLength = (mask: string) =>
  IPv4.isValidFourPartDecimal(mask) ? IPv4.parse(mask).prefixLengthFromSubnetMask() : null;

export const toNumber = (address: string): number =>
  IPv4.parse(address).octets.reduce((number, octet) => number * 256 + octet, 0);

const toText = (number: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
