import type { Deprecation } from '../../lib/environment/environment';

/** The one address from which an environment's webhooks come, and its reserve. */
export interface WebhookOrigin {
  /** The environment's name: letters, digits and hyphens. */
  readonly environment: string;
  /** The AWS region that serves. */
  readonly region: string;
  /** IPv4, without a prefix length. */
  readonly address: string;
  /** Likewise: where they come from in an announced emergency, and at no other time. Absent: there is none. */
  readonly reserve?: string;
  /** Absent: not deprecated. */
  readonly deprecation?: Deprecation;
}

export interface AllowListOptions {
  /** The TCP port that receives webhooks, where the format speaks of ports. */
  readonly port: number;
  /** What the rules are called where the format names them; matches `namePattern`. */
  readonly name: string;
}

export const defaultOptions: AllowListOptions = { port: 443, name: 'wallet-webhooks' };

/**
 * Names that every format can carry. The shortest limit is that of an iptables chain, 28 characters:
 * https://manpages.debian.org/bookworm/iptables/iptables-extensions.8.en.html
 */
export const namePattern = /^[a-z][a-z0-9-]{0,26}[a-z0-9]$/;

/** One address, once, with all the environments whose webhooks come from it, be it in an emergency only. */
export interface AllowListEntry {
  readonly cidr: string;
  /** The address without its prefix length. */
  readonly address: string;
  /** Of letters, digits, blanks and `.,:/-`, at most 128 of them: what every format takes for a comment. */
  readonly description: string;
}

/** What a format is rendered from. */
export interface AllowList extends AllowListOptions {
  readonly origins: readonly WebhookOrigin[];
  readonly entries: readonly AllowListEntry[];
  /** All environments, of the same letters as an entry's description: for formats with one comment for all addresses. */
  readonly description: string;
  /** What a reader of the file has to know, in lines for a comment. */
  readonly header: readonly string[];
}

export interface AllowListFormat {
  /** The format's name for people. */
  readonly title: string;
  /** What a receiver does with the file, in one sentence. */
  readonly use: string;
  /** Whether the header is in the file; elsewhere `use` has to be told apart from it. */
  readonly hasHeader: boolean;
  render(list: AllowList): string;
}

const announced = 'in an announced emergency only';

export function createAllowList(
  origins: readonly WebhookOrigin[],
  use: string,
  options: AllowListOptions,
): AllowList {
  return {
    ...options,
    origins,
    entries: entriesOf(origins),
    description: [
      origins.map(describe).join(' / '),
      ...(origins.some(({ reserve }) => reserve) ? [`and from reserves ${announced}`] : []),
    ].join(', '),
    header: [
      'Addresses from which webhooks of the wallet infrastructure come. Verify the signature of each webhook, too.',
      ...origins.map((origin) => `Environment ${describe(origin)}${dates(origin)}.`),
      ...origins.flatMap(({ environment, reserve }) =>
        reserve ? `Reserve ${reserve} of ${environment}: webhooks come from it ${announced}.` : [],
      ),
      `Use: ${use}`,
    ],
  };
}

/** Environments of one address share an entry: two rules for the same source are an error in some formats. */
function entriesOf(origins: readonly WebhookOrigin[]): AllowListEntry[] {
  const sources = [
    ...origins.map((origin) => ({ address: origin.address, description: describe(origin) })),
    ...origins.flatMap(({ environment, reserve }) =>
      reserve ? { address: reserve, description: `${environment}, ${announced}` } : [],
    ),
  ];
  return [...new Set(sources.map(({ address }) => address))].map((address) => ({
    address,
    cidr: `${address}/32`,
    description: sources
      .filter((source) => source.address === address)
      .map(({ description }) => description)
      .join(' / '),
  }));
}

const describe = ({ environment, region, deprecation }: WebhookOrigin) =>
  `${environment} in ${region}${deprecation ? ', deprecated: test funds only' : ''}`;

function dates({ deprecation }: WebhookOrigin): string {
  if (!deprecation) return '';
  const sunset = deprecation.sunset ? `, switched off on ${deprecation.sunset}` : '';
  return ` (since ${deprecation.since}${sunset})`;
}

/** The header as comment lines, for the formats whose comments start with `#`. */
export const hashed = (header: readonly string[]): string[] => header.map((line) => `# ${line}`);

export const lines = (...parts: readonly (string | readonly string[])[]): string => parts.flat().join('\n');

export const json = (value: unknown): string => JSON.stringify(value, undefined, 2);
