/** The source address of an environment's webhooks. Addresses are IPv4, without a prefix length. */
export interface WebhookOrigin {
  /** The environment's name: letters, digits and hyphens. */
  readonly environment: string;
  readonly region: string;
  readonly address: string;
  /** Source addresses of webhooks during an announced emergency only. @default - none */
  readonly reserve?: readonly string[];
  /** Days, such as `2026-11-20`. @default - not deprecated */
  readonly deprecation?: { readonly since: string; readonly sunset?: string };
}

/** Unique by address: some formats reject two rules for one source. */
interface Rule {
  readonly address: string;
  readonly cidr: string;
  // Letters, digits, blanks and `.,:/-`, at most 128 (NFTNL_UDATA_COMMENT_MAXLEN):
  // https://git.netfilter.org/libnftnl/tree/include/udata.h
  readonly comment: string;
}

interface Format {
  readonly title: string;
  readonly use: string;
  readonly render: (rules: readonly Rule[], port: number, origins: readonly WebhookOrigin[]) => string;
}

const headline = 'Addresses that webhooks come from. Verify each signature, too.';
const commented = (...lines: readonly (string | readonly string[])[]) =>
  [`# ${headline}`, ...lines.flat()].join('\n');
const json = (value: unknown) => JSON.stringify(value, undefined, 2);

/** The formats, in display order. */
export const allowListFormats = {
  json: {
    title: 'JSON',
    use: 'parse it in a program.',
    render: (_rules, _port, origins) =>
      json(
        origins.map(({ environment, region, address, reserve, deprecation }) => ({
          environment,
          region,
          addresses: [`${address}/32`],
          ...(reserve && { reserve: reserve.map((each) => `${each}/32`) }),
          deprecated: deprecation !== undefined,
          ...(deprecation && { deprecation }),
        })),
      ),
  },
  text: {
    title: 'Plain text',
    use: 'paste it into any other tool. Lines that start with # are comments.',
    render: (rules) => commented(rules.flatMap(({ cidr, comment }) => [`# ${comment}`, cidr])),
  },
  // https://nginx.org/en/docs/http/ngx_http_access_module.html
  nginx: {
    title: 'nginx',
    use: '"include" it in the location block, then nginx -s reload. Behind a load balancer, configure set_real_ip_from first.',
    render: (rules) => {
      const allowed = rules.map(({ cidr, comment }) => `allow ${cidr}; # ${comment}`);
      return commented(allowed, 'deny all;');
    },
  },
  // Of several "Require" directives, one that matches is enough: https://httpd.apache.org/docs/2.4/mod/mod_authz_core.html
  apache: {
    title: 'Apache',
    use: '"Include" it in the <Location> block, without any other "Require" there, then apachectl graceful. Behind a load balancer, configure RemoteIPInternalProxy first.',
    render: (rules) =>
      commented(rules.flatMap(({ cidr, comment }) => [`# ${comment}`, `Require ip ${cidr}`])),
  },
  nftables: {
    title: 'nftables',
    use: "nft -f FILE, again after a change. This closes the host's port and a container's published one, TCP and UDP (HTTP/3), IPv6 too, to all but these addresses (TCP only) and the host itself.",
    // A separate table, replaced atomically whenever the file is loaded:
    // https://wiki.nftables.org/wiki-nftables/index.php/Atomic_rule_replacement
    // Before any DNAT, after which packets for a container's published port would be forwarded past the hook `input`:
    // https://wiki.nftables.org/wiki-nftables/index.php/Netfilter_hooks
    render: (rules, port) => {
      const elements = rules.map(({ address, comment }) => `      ${address} comment "${comment}",`);
      return commented(`table inet wallet-webhooks
delete table inet wallet-webhooks
table inet wallet-webhooks {
  set origins {
    type ipv4_addr
    elements = {
${elements.join('\n')}
    }
  }
  chain prerouting {
    type filter hook prerouting priority raw; policy accept;
    iif "lo" accept
    fib daddr type != local accept
    tcp dport ${port} ip saddr @origins accept
    tcp dport ${port} drop
    udp dport ${port} drop
  }
}`);
    },
  },
  // https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_AuthorizeSecurityGroupIngress.html
  'aws-security-group': {
    title: 'AWS security group',
    use: 'aws ec2 authorize-security-group-ingress --group-id sg-… --cli-input-json file://FILE. AWS refuses the whole call (InvalidPermission.Duplicate) if one of the rules exists: remove from IpRanges each CidrIp that the group has.',
    render: (rules, port) => {
      const IpRanges = rules.map(({ cidr, comment }) => ({ CidrIp: cidr, Description: comment }));
      return json({ IpPermissions: [{ IpProtocol: 'tcp', FromPort: port, ToPort: port, IpRanges }] });
    },
  },
} as const satisfies Readonly<Record<string, Format>>;

export type AllowListFormat = keyof typeof allowListFormats;

export const allowListFormatNames = Object.keys(allowListFormats) as readonly AllowListFormat[];

/** Formats an allow-list, without a final line break. @param port the receiver's, for formats that include one */
export function formatAllowList(format: AllowListFormat, origins: readonly WebhookOrigin[], port = 443) {
  const sources = [
    ...origins.map(({ address, environment, region, deprecation }) => {
      const notice = deprecation ? ', deprecated: test funds only' : '';
      return { address, comment: `${environment} in ${region}${notice}` };
    }),
    ...origins.flatMap(({ environment, reserve = [] }) => {
      const comment = `${environment}, allow it now: used only in an announced emergency`;
      return reserve.map((address) => ({ address, comment }));
    }),
  ];
  const rules = [...new Set(sources.map(({ address }) => address))].map((address) => {
    const same = sources.filter((source) => source.address === address);
    return { address, cidr: `${address}/32`, comment: same.map(({ comment }) => comment).join(' / ') };
  });
  return allowListFormats[format].render(rules, port, origins);
}
