import { createReceivers, type Resolve, resolveByDns } from '../../../lambda/deliver-webhook/receivers';
import { startDnsServer } from '../../support/dns-server';

/** Never dialled when a name resolves to it, alone or beside a public address. */
const hostileAnswers: Readonly<Record<string, string>> = {
  loopback: '127.0.0.1 127.255.255.255',
  'this network': '0.0.0.0 0.1.2.3',
  private: '10.0.0.1 10.0.0.200 172.16.0.1 172.31.255.254 192.168.0.1',
  'link-local: metadata, credentials, resolver, time':
    '169.254.169.254 169.254.170.2 169.254.78.1 169.254.169.123',
  'shared, which another cloud uses for metadata': '100.64.0.1 100.100.100.200 100.127.255.255',
  'protocol assignments': '192.0.0.8 192.0.0.170 192.31.196.1 192.52.193.1 192.88.99.1',
  'documentation and benchmarks': '192.0.2.1 198.51.100.1 203.0.113.7 198.18.0.1',
  'multicast, reserved, broadcast': '224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255',
  'IPv6, inside and public': '::1 :: fd00:ec2::254 fe80::1 fe80::1%eth0 2606:2800:220:1::1',
  'IPv4 in IPv6':
    '::ffff:127.0.0.1 ::ffff:7f00:1 ::ffff:93.184.216.34 64:ff9b::a00:1 2002:a00:1:: 2001:0:a00:1::',
  'not a canonical address': 'localhost 93.184.216.34:80 0177.0.0.1 127.1 2130706433',
  empty: '',
};
const publicAddress = '93.184.216.34';

/** Attempts a delivery. @returns its result, the names that it looked up, and the addresses that it dialled */
async function attempt(resolve: Resolve, url = 'https://hooks.example.com/', connectTimeout?: number) {
  const lookups: string[] = [];
  const dialled: string[] = [];
  const receivers = createReceivers({
    resolve(name, signal) {
      lookups.push(name);
      return resolve(name, signal);
    },
    // Nothing listens at port 443 of this address.
    route(address) {
      dialled.push(address);
      return '127.0.0.9';
    },
    ...(connectTimeout && { connectTimeout }),
  });
  const result = await receivers.post({ webhookId: 'wh-1', url, headers: {}, body: '' });
  return { reason: result.answered ? 'answered' : result.reason, lookups, dialled };
}

it.each([
  ['https://169.254.169.254/latest/', 'address_instead_of_name'],
  ['https://2852039166/latest/', 'address_instead_of_name'],
  ['https://localhost/', 'name_not_public'],
  ['http://127.0.0.1:9001/', 'scheme_not_https'],
])('never looks up or dials %s', async (url, reason) => {
  expect(await attempt(async () => [publicAddress], url)).toEqual({ reason, lookups: [], dialled: [] });
});

it.each(Object.entries(hostileAnswers))('never dials a name that resolves to %s: %s', async (_, hostile) => {
  for (const address of hostile.split(' '))
    for (const addresses of [[address], [address, publicAddress], [publicAddress, address]])
      expect([addresses, await attempt(async () => addresses)]).toEqual([
        addresses,
        { reason: 'address_not_public', lookups: ['hooks.example.com'], dialled: [] },
      ]);
});

it('dials the address of its only lookup', async () => {
  expect(await attempt(async () => [publicAddress])).toEqual({
    reason: 'connection_refused',
    lookups: ['hooks.example.com'],
    dialled: [publicAddress],
  });
});

describe('by DNS', () => {
  let server: Awaited<ReturnType<typeof startDnsServer>>;
  beforeAll(async () => {
    server = await startDnsServer({
      'hooks.example.com': [publicAddress, '93.184.216.35'],
      // IPv6 only.
      'six.example.com': [],
      'broken.example.com': 'SERVFAIL',
      'silent.example.com': 'silence',
    });
  });
  beforeEach(() => server.questions.splice(0));
  afterAll(() => server.stop());
  const resolve: Resolve = (name, signal) => resolveByDns(name, signal, [server.address]);

  it('asks for A records of that name, once', async () => {
    const addresses = await resolve('hooks.example.com', new AbortController().signal);
    expect(addresses).toEqual([publicAddress, '93.184.216.35']);
    expect(server.questions).toEqual(['1 hooks.example.com']);
  });

  it.each([
    ['none.example.com', 'name_not_found'],
    ['six.example.com', 'name_not_found'],
    ['broken.example.com', 'name_lookup_failed'],
    ['silent.example.com', 'connect_timeout'],
  ])('reports for %s: %s', async (name, reason) => {
    const limit = name.startsWith('silent') ? 300 : undefined;
    expect(await attempt(resolve, `https://${name}/`, limit)).toMatchObject({ reason, dialled: [] });
    expect(new Set(server.questions)).toEqual(new Set([`1 ${name}`]));
  });
});
