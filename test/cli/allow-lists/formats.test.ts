import { createAllowList, defaultOptions } from '../../../cli/allow-lists/allow-list';
import { readCurrentAllowList } from '../../../cli/allow-lists/current-allow-list';
import { allowListFormatNames, allowListFormats, formatAllowList } from '../../../cli/allow-lists/formats';
import { all, eu, reserving, staging, uae } from './origins';

const formatsWithHeader = allowListFormatNames.filter((name) => allowListFormats[name].hasHeader);

describe.each(allowListFormatNames)('the format %s', (name) => {
  it('has an address once that several environments share', () => {
    const shared = all.map((origin) => ({ ...origin, address: '127.0.0.1' }));
    const text = formatAllowList(name, shared);
    const rules = name === 'json' ? 3 : 1;
    expect(withoutComments(text).match(/127\.0\.0\.1/g)).toHaveLength(rules);
  });

  it('gives the same text for the same outputs', () => {
    expect(formatAllowList(name, all)).toBe(formatAllowList(name, structuredClone(all)));
  });

  it('says of a deprecated environment that it is one', () => {
    expect(formatAllowList(name, [staging])).toMatch(/deprecated/);
    expect(formatAllowList(name, [eu])).not.toMatch(/deprecated: test funds only/);
  });

  it('has every reserve as it has the address, and says that it is for an announced emergency', () => {
    const text = formatAllowList(name, reserving);
    const rules = readCurrentAllowList(text).map((range) => range.text);
    expect(rules.sort()).toEqual(
      reserving.flatMap(({ address, reserve }) => [`${address}/32`, `${reserve}/32`]).sort(),
    );
    if (name === 'json')
      expect(JSON.parse(text)[0]).toMatchObject({ reserve: [`${reserving[0]?.reserve}/32`] });
    else expect(text).toContain('in an announced emergency only');
    expect(formatAllowList(name, all)).not.toMatch(/emergency|reserve/i);
  });

  it('is plain text that ends without a line break', () => {
    expect(formatAllowList(name, reserving)).toMatch(/^[\x20-\x7e\n]+$/);
    expect(formatAllowList(name, reserving)).not.toMatch(/\n$|[ \t]$/m);
  });
});

it.each(formatsWithHeader)('%s says first what it is, of which environments, and how to use it', (name) => {
  const text = formatAllowList(name, [{ ...eu, reserve: '203.0.113.8' }, staging]);
  const header = name === 'terraform' ? JSON.parse(text)['//'] : text;
  expect(header).toContain('Verify the signature of each webhook, too.');
  expect(header).toContain('Environment eu in eu-central-1.');
  expect(header).toContain(
    'Reserve 203.0.113.8 of eu: webhooks come from it in an announced emergency only.',
  );
  expect(header).toContain(
    'Environment staging in eu-west-3, deprecated: test funds only (since 2026-11-20, switched off on 2027-11-30).',
  );
  expect(header).toContain(`Use: ${allowListFormats[name].use}`);
});

it('describes an address in what the narrowest format takes for a comment', () => {
  // nftables keeps 128 bytes of a comment: NFTNL_UDATA_COMMENT_MAXLEN, https://git.netfilter.org/libnftnl/tree/include/udata.h
  const shared = reserving.map((origin) => ({ ...origin, address: '127.0.0.1', reserve: '127.0.0.2' }));
  for (const { description } of createAllowList(shared, '', defaultOptions).entries) {
    expect(description).toMatch(/^[A-Za-z0-9 .,:/-]{1,128}$/);
  }
});

describe('the rules of', () => {
  const rules = (name: Parameters<typeof formatAllowList>[0], options = {}) =>
    withoutComments(formatAllowList(name, [eu, uae], options));

  it.each([
    ['nginx', ['allow 203.0.113.7/32;', 'allow 198.51.100.4/32;', 'deny all;']],
    [
      'apache',
      ['<RequireAny>', '  Require ip 203.0.113.7/32', '  Require ip 198.51.100.4/32', '</RequireAny>'],
    ],
    ['caddy', ['@not-hooks not remote_ip 203.0.113.7/32 198.51.100.4/32', 'respond @not-hooks 403']],
    ['haproxy', ['203.0.113.7/32', '198.51.100.4/32']],
    [
      'iptables',
      [
        '*filter',
        ':hooks - [0:0]',
        '-A hooks -i lo -j RETURN',
        '-A hooks -s 203.0.113.7/32 -p tcp -m tcp --dport 8443 -m comment --comment "eu in eu-central-1" -j ACCEPT',
        '-A hooks -s 198.51.100.4/32 -p tcp -m tcp --dport 8443 -m comment --comment "uae in me-central-1" -j ACCEPT',
        '-A hooks -p tcp -m tcp --dport 8443 -j DROP',
        'COMMIT',
      ],
    ],
    [
      'nftables',
      [
        'table inet hooks',
        'delete table inet hooks',
        'table inet hooks {',
        '  set origins {',
        '    type ipv4_addr',
        '    elements = {',
        '      203.0.113.7 comment "eu in eu-central-1",',
        '      198.51.100.4 comment "uae in me-central-1",',
        '    }',
        '  }',
        '  chain input {',
        '    type filter hook input priority filter; policy accept;',
        '    iif "lo" accept',
        '    tcp dport 8443 ip saddr @origins accept',
        '    tcp dport 8443 drop',
        '  }',
        '}',
      ],
    ],
    [
      'ufw',
      [
        'set -e',
        "ufw allow proto tcp from 203.0.113.7/32 to any port 8443 comment 'eu in eu-central-1'",
        "ufw allow proto tcp from 198.51.100.4/32 to any port 8443 comment 'uae in me-central-1'",
      ],
    ],
  ] as const)('%s are these, with the name and the port that are asked for', (name, expected) => {
    expect(rules(name, { port: 8443, name: 'hooks' }).split('\n')).toEqual(expected);
  });

  it('a port are for 443 unless told otherwise', () => {
    expect(rules('nftables')).toContain('tcp dport 443 drop');
  });
});

/** Whole lines and ends of lines; none of the rules has a `#`. */
const withoutComments = (text: string) => text.replace(/^\s*#.*\n/gm, '').replace(/ #.*$/gm, '');
