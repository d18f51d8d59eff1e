/** The one address from which an environment's webhooks come. Addresses are IPv4, without a prefix length. */
export interface WebhookOrigin {
  /** The environment's name: letters, digits and hyphens. */
  readonly environment: string;
  /** The AWS region that serves. */
  readonly region: string;
  readonly address: string;
  /** Webhooks come from it in an announced emergency, and at no other time. @default - there is none */
  readonly reserve?: string;
  /** Days, such as `2026-11-20`. @default - not deprecated */
  readonly deprecation?: { readonly since: string; readonly sunset?: string };
}

interface Rule {
  readonly address: string;
  readonly cidr: string;
  /**
   * Letters, digits, blanks and `.,:/-`, at most 128: nftables keeps no more of a comment
   * (NFTNL_UDATA_COMMENT_MAXLEN, https://git.netfilter.org/libnftnl/tree/include/udata.h).
   */
  readonly comment: string;
}

interface AllowList {
  readonly origins: readonly WebhookOrigin[];
  /** Each address once: two rules for one source are an error in some formats. */
  readonly rules: readonly Rule[];
  /** The TCP port that receives webhooks. */
  readonly port: number;
}

interface Format {
  readonly title: string;
  readonly use: string;
  readonly render: (list: AllowList) => string;
}

const json = (value: unknown) => JSON.stringify(value, undefined, 2);
const lines = (...parts: readonly (string | readonly string[])[]) => parts.flat().join('\n');

/** In the order in which people see them. */
export const allowListFormats = {
  json: {
    title: 'JSON',
    use: 'for programs.',
    render: ({ origins }) =>
      json(
        origins.map(({ environment, region, address, reserve, deprecation }) => ({
          environment,
          region,
          addresses: [`${address}/32`],
          ...(reserve && { reserve: [`${reserve}/32`] }),
          deprecated: deprecation !== undefined,
          ...(deprecation && { deprecation }),
        })),
      ),
  },
  text: {
    title: 'plain list',
    use: 'for everything else. Lines that start with # are comments.',
    render: ({ rules }) =>
      lines(
        `# ${headline}`,
        rules.flatMap(({ cidr, comment }) => [`# ${comment}`, cidr]),
      ),
  },
  // https://nginx.org/en/docs/http/ngx_http_access_module.html
  nginx: {
    title: 'nginx',
    use: '"include" it in the location. Behind a load balancer, set_real_ip_from comes first.',
    render: ({ rules }) =>
      lines(
        `# ${headline}`,
        rules.map(({ cidr, comment }) => `allow ${cidr}; # ${comment}`),
        'deny all;',
      ),
  },
  // A table of its own, replaced in one transaction whenever the file is loaded:
  // https://wiki.nftables.org/wiki-nftables/index.php/Atomic_rule_replacement
  nftables: {
    title: 'nftables',
    use: 'nft -f FILE. It closes the port, for IPv6 too, to everyone but these addresses and this host itself.',
    render: ({ rules, port }) =>
      lines(
        `# ${headline}`,
        'table inet wallet-webhooks',
        'delete table inet wallet-webhooks',
        'table inet wallet-webhooks {',
        '  set origins {',
        '    type ipv4_addr',
        '    elements = {',
        rules.map(({ address, comment }) => `      ${address} comment "${comment}",`),
        '    }',
        '  }',
        '  chain input {',
        '    type filter hook input priority filter; policy accept;',
        '    iif "lo" accept',
        `    tcp dport ${port} ip saddr @origins accept`,
        `    tcp dport ${port} drop`,
        '  }',
        '}',
      ),
  },
  // The JSON syntax ignores the key "//": https://developer.hashicorp.com/terraform/language/syntax/json
  terraform: {
    title: 'Terraform',
    use: 'save it as a file that ends in .tf.json, and use local.wallet_webhooks_cidrs in your rules.',
    render: ({ rules }) =>
      json({
        '//': [headline, ...rules.map(({ cidr, comment }) => `${cidr}: ${comment}.`)].join(' '),
        locals: { wallet_webhooks_cidrs: rules.map(({ cidr }) => cidr) },
      }),
  },
  // https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_AuthorizeSecurityGroupIngress.html
  'aws-security-group': {
    title: 'AWS security group',
    use: 'aws ec2 authorize-security-group-ingress --group-id sg-… --cli-input-json file://FILE',
    render: ({ rules, port }) => {
      const ranges = rules.map(({ cidr, comment }) => ({ CidrIp: cidr, Description: comment }));
      return json({
        IpPermissions: [{ IpProtocol: 'tcp', FromPort: port, ToPort: port, IpRanges: ranges }],
      });
    },
  },
} as const satisfies Readonly<Record<string, Format>>;

export type AllowListFormat = keyof typeof allowListFormats;

export const allowListFormatNames = Object.keys(allowListFormats) as readonly AllowListFormat[];

const headline = 'Addresses that webhooks come from. Verify each signature, too.';

/**
 * The allow-list of these origins, without a line break at its end. The same input gives the same text.
 *
 * @param port where webhooks are received, for the formats that have ports
 */
export function formatAllowList(
  format: AllowListFormat,
  origins: readonly WebhookOrigin[],
  port = 443,
): string {
  const comments = new Map<string, string[]>();
  const add = (address: string, comment: string) =>
    comments.set(address, [...(comments.get(address) ?? []), comment]);
  for (const { address, environment, region, deprecation } of origins)
    add(address, `${environment} in ${region}${deprecation ? ', deprecated: test funds only' : ''}`);
  for (const { environment, reserve } of origins)
    if (reserve) add(reserve, `${environment}, in an announced emergency only`);
  const rules = [...comments].map(([address, each]) => ({
    address,
    cidr: `${address}/32`,
    comment: each.join(' / '),
  }));
  return allowListFormats[format].render({ origins, rules, port });
}
