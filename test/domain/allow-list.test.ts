import { allowListFormatNames, formatAllowList } from '../../domain/allow-list';

const eu = { environment: 'eu', region: 'eu-central-1', address: '203.0.113.7', reserve: '203.0.113.8' };
const staging = {
  environment: 'staging',
  region: 'eu-west-3',
  address: '192.0.2.9',
  deprecation: { since: '2026-11-20', sunset: '2027-11-30' },
};
const stagingComment = 'staging in eu-west-3, deprecated: test funds only';
const reserveComment = 'eu, in an announced emergency only';
const headline = 'Addresses that webhooks come from. Verify each signature, too.';
const lines = (...rules: string[]) => [`# ${headline}`, ...rules].join('\n');
const json = (value: unknown) => JSON.stringify(value, undefined, 2);
const deployed = {
  json: json([
    {
      environment: 'eu',
      region: 'eu-central-1',
      addresses: ['203.0.113.7/32'],
      reserve: ['203.0.113.8/32'],
      deprecated: false,
    },
    {
      environment: 'staging',
      region: 'eu-west-3',
      addresses: ['192.0.2.9/32'],
      deprecated: true,
      deprecation: staging.deprecation,
    },
  ]),
  text: lines(
    '# eu in eu-central-1',
    '203.0.113.7/32',
    `# ${stagingComment}`,
    '192.0.2.9/32',
    `# ${reserveComment}`,
    '203.0.113.8/32',
  ),
  nginx: lines(
    'allow 203.0.113.7/32; # eu in eu-central-1',
    `allow 192.0.2.9/32; # ${stagingComment}`,
    `allow 203.0.113.8/32; # ${reserveComment}`,
    'deny all;',
  ),
  nftables: lines(
    'table inet wallet-webhooks',
    'delete table inet wallet-webhooks',
    'table inet wallet-webhooks {',
    '  set origins {',
    '    type ipv4_addr',
    '    elements = {',
    '      203.0.113.7 comment "eu in eu-central-1",',
    `      192.0.2.9 comment "${stagingComment}",`,
    `      203.0.113.8 comment "${reserveComment}",`,
    '    }',
    '  }',
    '  chain input {',
    '    type filter hook input priority filter; policy accept;',
    '    iif "lo" accept',
    '    tcp dport 8443 ip saddr @origins accept',
    '    tcp dport 8443 drop',
    '  }',
    '}',
  ),
  terraform: json({
    '//': `${headline} 203.0.113.7/32: eu in eu-central-1. 192.0.2.9/32: ${stagingComment}. 203.0.113.8/32: ${reserveComment}.`,
    locals: { wallet_webhooks_cidrs: ['203.0.113.7/32', '192.0.2.9/32', '203.0.113.8/32'] },
  }),
  'aws-security-group': json({
    IpPermissions: [
      {
        IpProtocol: 'tcp',
        FromPort: 8443,
        ToPort: 8443,
        IpRanges: [
          { CidrIp: '203.0.113.7/32', Description: 'eu in eu-central-1' },
          { CidrIp: '192.0.2.9/32', Description: stagingComment },
          { CidrIp: '203.0.113.8/32', Description: reserveComment },
        ],
      },
    ],
  }),
};

it('knows these formats', () => expect(allowListFormatNames).toEqual(Object.keys(deployed)));

describe.each(allowListFormatNames)('%s', (format) => {
  it('contains every address and reserve, with a description of each', () => {
    expect(formatAllowList(format, [eu, staging], 8443)).toBe(deployed[format]);
  });

  it('mentions no emergency without a reserve', () => {
    expect(formatAllowList(format, [staging])).not.toMatch(/emergency|reserve/i);
  });

  it('contains a shared address once, with a comment that nftables accepts', () => {
    const here = { address: '127.0.0.1', reserve: '127.0.0.2' };
    const shared = [eu, { ...eu, environment: 'uae' }, staging].map((origin) => ({ ...origin, ...here }));
    const list = formatAllowList(format, shared);
    if (format !== 'json') expect(list.replace(/^#.*|"\/\/.*/gm, '').match(/127\.0\.0\.1/g)).toHaveLength(1);
    for (const [, comment] of list.matchAll(/comment "(.*)"/g))
      expect(comment).toMatch(/^[A-Za-z0-9 .,:/-]{1,128}$/);
  });
});

it('the default port is 443', () => {
  expect(formatAllowList('nftables', [eu])).toContain('tcp dport 443 drop');
});
