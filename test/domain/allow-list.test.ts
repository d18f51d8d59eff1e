import { allowListFormatNames, formatAllowList } from '../../domain/allow-list';

const deprecation = { since: '2026-11-20', sunset: '2027-11-30' };
const ofEu = { environment: 'eu', region: 'eu-central-1' };
const ofStaging = { environment: 'staging', region: 'eu-west-3' };
const origins = [
  { ...ofEu, address: '203.0.113.7', reserve: ['203.0.113.8', '203.0.113.9'] },
  { ...ofStaging, address: '192.0.2.9', deprecation },
];
const headline = 'Addresses that webhooks come from. Verify each signature, too.';
const cidrs = ['203.0.113.7/32', '192.0.2.9/32', '203.0.113.8/32', '203.0.113.9/32'];
const [eu, staging] = ['eu in eu-central-1', 'staging in eu-west-3, deprecated: test funds only'];
const reserve = 'eu, allow it now: used only in an announced emergency';
const comments = [eu, staging, reserve, reserve];
const described = cidrs.map((cidr, index) => [cidr, comments[index]]);
const json = (value: unknown) => JSON.stringify(value, undefined, 2);

const lists = {
  json: json([
    { ...ofEu, addresses: [cidrs[0]], reserve: cidrs.slice(2), deprecated: false },
    { ...ofStaging, addresses: [cidrs[1]], deprecated: true, deprecation },
  ]),
  text: [`# ${headline}`, ...described.map(([cidr, comment]) => `# ${comment}\n${cidr}`)].join('\n'),
  nginx: `# ${headline}
allow 203.0.113.7/32; # ${eu}
allow 192.0.2.9/32; # ${staging}
allow 203.0.113.8/32; # ${reserve}
allow 203.0.113.9/32; # ${reserve}
deny all;`,
  apache: [`# ${headline}`, ...described.map(([cidr, comment]) => `# ${comment}\nRequire ip ${cidr}`)].join(
    '\n',
  ),
  nftables: `# ${headline}
table inet wallet-webhooks
delete table inet wallet-webhooks
table inet wallet-webhooks {
  set origins {
    type ipv4_addr
    elements = {
      203.0.113.7 comment "${eu}",
      192.0.2.9 comment "${staging}",
      203.0.113.8 comment "${reserve}",
      203.0.113.9 comment "${reserve}",
    }
  }
  chain prerouting {
    type filter hook prerouting priority raw; policy accept;
    iif "lo" accept
    fib daddr type != local accept
    tcp dport 8443 ip saddr @origins accept
    tcp dport 8443 drop
    udp dport 8443 drop
  }
}`,
  'aws-security-group': json({
    IpPermissions: [
      {
        IpProtocol: 'tcp',
        FromPort: 8443,
        ToPort: 8443,
        IpRanges: described.map(([CidrIp, Description]) => ({ CidrIp, Description })),
      },
    ],
  }),
};
it.each(allowListFormatNames)('%s has each address and reserve, with a description', (format) => {
  expect(formatAllowList(format, origins, 8443)).toBe(lists[format]);
});

it('has a shared address once, with a comment that nftables accepts, for port 443', () => {
  const shared = origins.map((origin) => ({ ...origin, address: '127.0.0.1' }));
  const list = formatAllowList('nftables', shared);
  expect(list.match(/127\.0\.0\.1/g)).toHaveLength(1);
  expect(list).toMatch(/127\.0\.0\.1 comment "[A-Za-z0-9 .,:/-]{1,128}"/);
  expect(list).toContain('tcp dport 443 drop');
});
