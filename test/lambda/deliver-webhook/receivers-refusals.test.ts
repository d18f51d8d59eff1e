import { createReceivers, resolveByDns } from '../../../lambda/deliver-webhook/receivers';
import { hostileUrls } from '../../domain/hostile-urls';
import { startDnsServer } from '../../support/dns-server';

const webhookId = 'wh-00001-00001-0000000000000001';

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

let answer: readonly string[];
let dialled: string[];
let lookups: string[];
const receivers = createReceivers({
  resolve: async (name) => {
    lookups.push(name);
    return answer;
  },
  // Nothing listens at port 443 of this address: dialling it would fail with `connection_refused`.
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

const post = (url = 'https://hooks.example.com/', by = receivers) =>
  by.post({ webhookId, url, headers: {}, body: '' });
const refused = (reason: string) => ({ answered: false, reason });

it.each(hostileUrls)('never looks up or dials %s: %s', async (_name, url, reason) => {
  expect(await post(url)).toEqual(refused(reason));
  expect({ lookups, dialled }).toEqual({ lookups: [], dialled: [] });
});

it.each(Object.entries(hostileAnswers))('never dials a name that resolves to %s: %s', async (_, hostile) => {
  for (const address of hostile.split(' '))
    for (const addresses of [[address], [address, publicAddress], [publicAddress, address]]) {
      answer = addresses;
      expect([address, await post()]).toEqual([address, refused('address_not_public')]);
    }
  expect(dialled).toEqual([]);
});

it('resolves a name once for each attempt', async () => {
  for (const [addresses, reason] of [
    [[publicAddress], 'connection_refused'],
    [['127.0.0.1'], 'address_not_public'],
    [[], 'name_not_found'],
  ] as const) {
    answer = addresses;
    expect(await post()).toEqual(refused(reason));
  }
  expect(lookups).toHaveLength(3);
  expect(dialled).toEqual([publicAddress]);
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
  const resolve = (name: string, signal: AbortSignal) => resolveByDns(name, signal, [server.address]);

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
    const client = createReceivers({ resolve, ...(name.startsWith('silent') && { connectTimeout: 300 }) });
    expect(await post(`https://${name}/`, client)).toEqual(refused(reason));
    expect(new Set(server.questions)).toEqual(new Set([`1 ${name}`]));
  });
});
