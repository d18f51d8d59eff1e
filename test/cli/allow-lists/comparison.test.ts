import * as fc from 'fast-check';
import { compareAllowList } from '../../../cli/allow-lists/comparison';
import { allowListFormatNames, formatAllowList } from '../../../cli/allow-lists/formats';
import { all, eu, staging, uae } from './origins';

const compare = (list: string, ...origins: (typeof eu)[]) => compareAllowList(list, origins);

describe('a list', () => {
  it('that has the addresses and no others is the same', () => {
    expect(compare('203.0.113.7/32\n198.51.100.4\n', eu, uae)).toEqual({
      same: true,
      present: [
        { environment: 'eu', cidr: '203.0.113.7/32' },
        { environment: 'uae', cidr: '198.51.100.4/32' },
      ],
      missing: [],
      stale: [],
      broader: [],
    });
  });

  it('that lacks an address differs', () => {
    const comparison = compare('203.0.113.7\n', eu, uae);
    expect(comparison).toMatchObject({
      same: false,
      missing: [{ environment: 'uae', cidr: '198.51.100.4/32' }],
    });
  });

  it('that has an unknown address differs', () => {
    expect(compare('203.0.113.7 198.51.100.4/32', eu)).toMatchObject({
      same: false,
      stale: ['198.51.100.4/32'],
    });
  });

  it('that is empty lacks everything', () => {
    expect(compare('', eu)).toMatchObject({ same: false, missing: [{ environment: 'eu' }] });
  });

  it.each([
    ['a network', '203.0.113.0/24', '203.0.113.0/24'],
    ['a network with host bits', '203.0.113.99/24', '203.0.113.0/24'],
    ['a netmask', '203.0.113.0/255.255.255.0', '203.0.113.0/24'],
    ['a netmask after a blank', 'permit 203.0.113.0 255.255.255.0', '203.0.113.0/24'],
    ['a range', '203.0.113.1-203.0.113.9', '203.0.113.1-203.0.113.9'],
    ['everything', '0.0.0.0/0', '0.0.0.0/0'],
  ])('with %s that covers the address has it, and more', (_, list, entry) => {
    expect(compare(list, eu)).toEqual({
      same: true,
      present: [{ environment: 'eu', cidr: '203.0.113.7/32' }],
      missing: [],
      stale: [],
      broader: [{ entry, covers: [{ environment: 'eu', cidr: '203.0.113.7/32' }] }],
    });
  });

  it.each(['203.0.112.0/24', '203.0.113.8/29', '203.0.113.8-203.0.113.9'])('with %s does not', (list) => {
    expect(compare(list, eu)).toMatchObject({ same: false, missing: [{ environment: 'eu' }], broader: [] });
  });

  it('takes the netmask of one address for a part of it', () => {
    expect(compare('203.0.113.7 255.255.255.255', eu)).toMatchObject({ same: true, stale: [], broader: [] });
  });

  it('with an address and no reserve is the same, and lacks the reserve for an emergency', () => {
    const reserve = '203.0.113.8';
    const missingReserves = [{ environment: 'eu', cidr: '203.0.113.8/32', reserve: true }];
    expect(compare('203.0.113.7', { ...eu, reserve })).toMatchObject({
      same: true,
      missing: [],
      missingReserves,
    });
    expect(compare('203.0.113.7 203.0.113.8', { ...eu, reserve })).toMatchObject({
      same: true,
      present: [{ environment: 'eu', cidr: '203.0.113.7/32' }, ...missingReserves],
      missingReserves: [],
      stale: [],
    });
  });

  it('with a reserve and no address differs', () => {
    expect(compare('203.0.113.8', { ...eu, reserve: '203.0.113.8' })).toMatchObject({
      same: false,
      missing: [{ environment: 'eu', cidr: '203.0.113.7/32' }],
      missingReserves: [],
      stale: [],
    });
    expect(compare('203.0.113.8', eu)).toMatchObject({ same: false, stale: ['203.0.113.8/32'] });
  });

  it('with an entry twice has it once', () => {
    expect(compare('198.51.100.4 198.51.100.4/32', eu).stale).toEqual(['198.51.100.4/32']);
  });
});

describe('what does not admit anyone counts for nothing:', () => {
  it.each([
    ['a comment after #', 'allow 203.0.113.7; # was 198.51.100.4'],
    ['a comment without a blank before it', 'allow 203.0.113.7;# was 198.51.100.4'],
    ['a rule that is commented out', '# allow 198.51.100.4;\nallow 203.0.113.7;'],
    ['a comment after //', '203.0.113.7 // 198.51.100.4'],
    ['a comment of several lines', '/* 198.51.100.4\n198.51.100.5 */\n203.0.113.7'],
    ['a comment of HTML', '<!-- 198.51.100.4 -->203.0.113.7'],
    ['a comment after ; at the start of a line', '; 198.51.100.4\n203.0.113.7'],
    ['the comment of an nftables element', 'elements = { 203.0.113.7 comment "was 198.51.100.4" }'],
    ['the comment of an iptables rule', '-A x -s 203.0.113.7/32 -m comment --comment 198.51.100.4 -j ACCEPT'],
    ['a description in HCL', 'cidr = "203.0.113.7/32"\ndescription = "was 198.51.100.4"'],
    ['a description in YAML', '- description: was 198.51.100.4\n  cidr: 203.0.113.7/32'],
    ['a description in JSON', '[{"ip":"203.0.113.7","comment":"was 198.51.100.4"}]'],
    ['a version', '{"contentVersion":"1.0.0.0","ip":"203.0.113.7"}'],
    ['a longer number', 'release 198.51.100.4.1 203.0.113.7'],
    ['a place to listen', 'listen 198.51.100.4:443; allow 203.0.113.7;'],
    ['a URL', 'see https://198.51.100.4/list 203.0.113.7'],
    ['no address', '198.51.100.999 198.51.100.4/33 198.51.100.4/255.0.255.0 203.0.113.7'],
    ['a range that runs backwards', '198.51.100.9-198.51.100.4 203.0.113.7'],
    ['deny in nginx', 'allow 203.0.113.7; deny 0.0.0.0/0;'],
    ['not in Apache', 'Require ip 203.0.113.7\nRequire not ip 198.51.100.4'],
    ['DROP in iptables', '-A x -s 203.0.113.7/32 -j ACCEPT\n-A x -s 0.0.0.0/0 -j DROP'],
    ['drop in nftables', 'ip saddr 203.0.113.7 accept\nip saddr 0.0.0.0/0 drop'],
    ['deny in ufw', 'ufw allow from 203.0.113.7\nufw deny from 198.51.100.4'],
    ['DENY in the status of ufw', '443/tcp ALLOW IN 203.0.113.7\n443/tcp DENY IN 198.51.100.4'],
    [
      'Deny in a JSON object',
      '[{"access":"Allow","from":"203.0.113.7"},{"access":"Deny","from":"0.0.0.0/0"}]',
    ],
  ])('%s', (_, list) => {
    expect(compare(list, eu)).toMatchObject({ same: true, stale: [], broader: [] });
  });
});

it('finds an address that a path with /* follows', () => {
  expect(compare('handle /hooks/* {\n  @in remote_ip 203.0.113.7\n}\nhandle /* {\n}', eu).same).toBe(true);
});

const origin = fc
  .tuple(fc.integer({ min: 1, max: 223 }), fc.nat(255), fc.nat(255), fc.nat(255))
  .map((octets) => octets.join('.'));

it.each(allowListFormatNames)('finds in %s just what was written into it', (name) => {
  fc.assert(
    fc.property(fc.uniqueArray(origin, { minLength: 3, maxLength: 4 }), ([reserve = '', ...addresses]) => {
      const origins = addresses.map((address, index) => ({ ...(all[index] ?? staging), address }));
      const [first, ...others] = origins;
      if (!first) return;
      const list = formatAllowList(name, origins);
      expect(compareAllowList(list, origins)).toMatchObject({ same: true, broader: [] });
      const reserving = [{ ...first, reserve }, ...others];
      expect(compareAllowList(list, reserving)).toMatchObject({ same: true, missingReserves: [{}] });
      expect(compareAllowList(formatAllowList(name, reserving), reserving).missingReserves).toEqual([]);
      expect(compareAllowList(formatAllowList(name, reserving), origins).stale).toEqual([`${reserve}/32`]);
      expect(compareAllowList(list, [first]).stale).toEqual(others.map(({ address }) => `${address}/32`));
      expect(compareAllowList(formatAllowList(name, [first]), origins).missing).toHaveLength(others.length);
    }),
    { numRuns: 50 },
  );
});
