import { allowListFormatNames, formatAllowList } from '../../domain/allow-list';

const eu = { environment: 'eu', region: 'eu-central-1', address: '203.0.113.7', reserve: '203.0.113.8' };
const deprecation = { since: '2026-11-20', sunset: '2027-11-30' };
const staging = { environment: 'staging', region: 'eu-west-3', address: '192.0.2.9', deprecation };
const headline = 'Addresses that webhooks come from. Verify each signature, too.';
const reserveComment = 'eu, in an announced emergency only';
const json = (value: unknown) => JSON.stringify(value, undefined, 2);

/** Of one environment, on port 8443. */
const lists = {
  text: `# ${headline}
# eu in eu-central-1
203.0.113.7/32
# ${reserveComment}
203.0.113.8/32`,
  nginx: `# ${headline}
allow 203.0.113.7/32; # eu in eu-central-1
allow 203.0.113.8/32; # ${reserveComment}
deny all;`,
  nftables: `# ${headline}
table inet wallet-webhooks
delete table inet wallet-webhooks
table inet wallet-webhooks {
  set origins {
    type ipv4_addr
    elements = {
      203.0.113.7 comment "eu in eu-central-1",
      203.0.113.8 comment "${reserveComment}",
    }
  }
  chain input {
    type filter hook input priority filter; policy accept;
    iif "lo" accept
    tcp dport 8443 ip saddr @origins accept
    tcp dport 8443 drop
  }
}`,
  terraform: json({
    '//': `${headline} 203.0.113.7/32: eu in eu-central-1. 203.0.113.8/32: ${reserveComment}.`,
    locals: { wallet_webhooks_cidrs: ['203.0.113.7/32', '203.0.113.8/32'] },
  }),
  'aws-security-group': json({
    IpPermissions: [
      {
        ...{ IpProtocol: 'tcp', FromPort: 8443, ToPort: 8443 },
        IpRanges: [
          { CidrIp: '203.0.113.7/32', Description: 'eu in eu-central-1' },
          { CidrIp: '203.0.113.8/32', Description: reserveComment },
        ],
      },
    ],
  }),
};
it.each(Object.entries(lists))(
  '%s has the address and the reserve, each with a description',
  (format, list) => {
    expect(formatAllowList(format as keyof typeof lists, [eu], 8443)).toBe(list);
  },
);

it('json has the regions and the deprecation of several environments', () => {
  const { reserve, address, ...euNames } = eu;
  const { address: other, ...stagingFields } = staging;
  expect(JSON.parse(formatAllowList('json', [eu, staging]))).toEqual([
    { ...euNames, addresses: [`${address}/32`], reserve: [`${reserve}/32`], deprecated: false },
    { ...stagingFields, addresses: [`${other}/32`], deprecated: true },
  ]);
});

it.each(allowListFormatNames)(
  '%s has a shared address once, with a comment that nftables accepts',
  (format) => {
    const here = { address: '127.0.0.1', reserve: '127.0.0.2' };
    const shared = [eu, { ...eu, environment: 'uae' }, staging].map((origin) => ({ ...origin, ...here }));
    const list = formatAllowList(format, shared);
    if (format !== 'json') expect(list.replace(/^#.*|"\/\/.*/gm, '').match(/127\.0\.0\.1/g)).toHaveLength(1);
    for (const [, comment] of list.matchAll(/comment "(.*)"/g))
      expect(comment).toMatch(/^[A-Za-z0-9 .,:/-]{1,128}$/);
  },
);

it('the default port is 443, and an environment without a reserve has no emergency', () => {
  const list = formatAllowList('nftables', [staging]);
  expect(list).toContain('tcp dport 443 drop');
  expect(list).toContain('192.0.2.9 comment "staging in eu-west-3, deprecated: test funds only",\n    }');
});
