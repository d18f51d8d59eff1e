import { createReceivers } from '../../../lambda/deliver-webhook/receivers';
import { hostileUrls } from '../../domain/hostile-urls';
import { type HttpServer, startHttpServer } from '../../support/http-server';

const webhookId = 'wh-00001-00001-0000000000000001';

/** What a name may resolve to instead of a receiver: each is never dialled, alone or beside a public address. */
const hostileAnswers: readonly (readonly [name: string, address: string])[] = [
  ['loopback', '127.0.0.1'],
  ['the end of loopback', '127.255.255.255'],
  ['any address', '0.0.0.0'],
  ['this network', '0.1.2.3'],
  ['a private address of class A', '10.0.0.1'],
  ["an address of the VPC's public subnet", '10.0.0.200'],
  ['the VPC resolver', '10.0.0.2'],
  ['a private address of class B', '172.16.0.1'],
  ['the end of class B', '172.31.255.254'],
  ['a private address of class C', '192.168.0.1'],
  ['the metadata service', '169.254.169.254'],
  ['the container credentials', '169.254.170.2'],
  ["Lambda's own link-local resolver", '169.254.78.1'],
  ['the time service', '169.254.169.123'],
  ['a shared address', '100.64.0.1'],
  ['the metadata service of another cloud', '100.100.100.200'],
  ['the end of shared addresses', '100.127.255.255'],
  ['an address of protocol assignments', '192.0.0.8'],
  ['the NAT64 discovery address', '192.0.0.170'],
  ['documentation 1', '192.0.2.1'],
  ['documentation 2', '198.51.100.1'],
  ['documentation 3', '203.0.113.7'],
  ['6to4 relay anycast', '192.88.99.1'],
  ['benchmarks', '198.18.0.1'],
  ['multicast', '224.0.0.1'],
  ['the end of multicast', '239.255.255.255'],
  ['a reserved address', '240.0.0.1'],
  ['broadcast', '255.255.255.255'],
  ['AS112', '192.31.196.1'],
  ['AMT', '192.52.193.1'],
  ['IPv6 loopback', '::1'],
  ['IPv6 any address', '::'],
  ['loopback mapped into IPv6', '::ffff:127.0.0.1'],
  ['loopback mapped into IPv6, in hexadecimal', '::ffff:7f00:1'],
  ['a public address mapped into IPv6', '::ffff:93.184.216.34'],
  ['the metadata service in IPv6', 'fd00:ec2::254'],
  ['a link-local address', 'fe80::1'],
  ['a link-local address with its zone', 'fe80::1%eth0'],
  ['a private address through NAT64', '64:ff9b::a00:1'],
  ['a private address through 6to4', '2002:a00:1::'],
  ['a private address through Teredo', '2001:0:a00:1::'],
  ['a public IPv6 address', '2606:2800:220:1::1'],
  ['another name', 'localhost'],
  ['an address with a port', '93.184.216.34:80'],
  ['an octal form', '0177.0.0.1'],
  ['a shortened form', '127.1'],
  ['one number', '2130706433'],
  ['nothing', ''],
];
const publicAddress = '93.184.216.34';

let answer: readonly string[];
let dialled: string[];
let lookups: string[];
const receivers = createReceivers({
  resolve: async (name) => {
    lookups.push(name);
    return answer;
  },
  // Nothing listens at port 443 of this address: were anything dialled, the reason would be `connection_refused`.
  route: (address) => {
    dialled.push(address);
    return '127.0.0.9';
  },
});

beforeEach(() => {
  answer = [publicAddress];
  dialled = [];
  lookups = [];
});

it('dials a public address: what follows would be seen', async () => {
  expect(
    await receivers.post({ webhookId, url: 'https://hooks.example.com/', headers: {}, body: '' }),
  ).toEqual({
    answered: false,
    reason: 'connection_refused',
  });
  expect(dialled).toEqual([publicAddress]);
});

it('knows at least 60 hostile URLs and 40 hostile answers', () => {
  expect(hostileUrls.length).toBeGreaterThanOrEqual(60);
  expect(hostileAnswers.length).toBeGreaterThanOrEqual(40);
});

it.each(hostileUrls)('never looks up or dials %s: %s', async (_name, url, reason) => {
  expect(await receivers.post({ webhookId, url: url, headers: {}, body: '' })).toEqual({
    answered: false,
    reason,
  });
  expect({ lookups, dialled }).toEqual({ lookups: [], dialled: [] });
});

describe.each(hostileAnswers)('a name that resolves to %s, %s', (_name, address) => {
  it.each([
    ['alone', [address]],
    ['before a public address', [address, publicAddress]],
    ['after a public address', [publicAddress, address]],
  ])('is never dialled: %s', async (_order, addresses) => {
    answer = addresses;
    expect(
      await receivers.post({ webhookId, url: 'https://hooks.example.com/', headers: {}, body: '' }),
    ).toEqual({
      answered: false,
      reason: 'address_not_public',
    });
    expect(dialled).toEqual([]);
  });
});

describe('a name that does not resolve', () => {
  const failing = (code: string) =>
    createReceivers({ resolve: () => Promise.reject(Object.assign(new Error(code), { code })) });

  it.each([
    ['ENOTFOUND', 'name_not_found'],
    ['ENODATA', 'name_not_found'],
    ['ESERVFAIL', 'name_lookup_failed'],
    ['ETIMEOUT', 'name_lookup_failed'],
  ])('with %s is %s', async (code, reason) => {
    expect(
      await failing(code).post({ webhookId, url: 'https://hooks.example.com/', headers: {}, body: '' }),
    ).toEqual({
      answered: false,
      reason,
    });
  });

  it('to any address is name_not_found', async () => {
    answer = [];
    expect(
      await receivers.post({ webhookId, url: 'https://hooks.example.com/', headers: {}, body: '' }),
    ).toEqual({
      answered: false,
      reason: 'name_not_found',
    });
  });
});

describe('rebinding', () => {
  let inside: HttpServer;
  let visits = 0;

  beforeAll(async () => {
    inside = await startHttpServer((_request, response) => {
      visits += 1;
      response.end();
    });
  });
  afterAll(() => inside.stop());

  it('is in vain: the name is looked up once, and the address that was checked is the one that is dialled', async () => {
    let count = 0;
    const seen: string[] = [];
    const rebinding = createReceivers({
      connectTimeout: 300,
      resolve: async () => {
        count += 1;
        return count === 1 ? [publicAddress] : ['127.0.0.1'];
      },
      // TEST-NET-1 answers nobody: only a second lookup could bring the connection inside.
      route: (address) => {
        seen.push(address);
        return '192.0.2.1';
      },
    });
    const result = await rebinding.post({
      webhookId,
      url: `https://hooks.example.com:${inside.port}/`,
      headers: {},
      body: '',
    });

    expect(result.answered).toBe(false);
    expect({ count, seen, visits }).toEqual({ count: 1, seen: [publicAddress], visits: 0 });
  });

  it('is refused at the next attempt, when the name has come to point inside', async () => {
    const answers = [[publicAddress], ['127.0.0.1']];
    const rebinding = createReceivers({
      resolve: async () => answers.shift() ?? [],
      route: () => '127.0.0.9',
    });
    const attempt = () =>
      rebinding.post({ webhookId, url: 'https://hooks.example.com/', headers: {}, body: '' });

    expect(await attempt()).toEqual({ answered: false, reason: 'connection_refused' });
    expect(await attempt()).toEqual({ answered: false, reason: 'address_not_public' });
  });
});
