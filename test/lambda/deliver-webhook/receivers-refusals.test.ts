import { createReceivers, resolveByDns } from '../../../lambda/deliver-webhook/receivers';
import { hostileUrls } from '../../domain/hostile-urls';
import { type DnsServer, startDnsServer } from '../../support/dns-server';

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

const post = (url = 'https://hooks.example.com/', by = receivers) =>
  by.post({ webhookId, url, headers: {}, body: '' });
const refused = (reason: string) => ({ answered: false, reason });

it('dials a public address: a hostile one would be seen', async () => {
  expect(await post()).toEqual(refused('connection_refused'));
  expect(dialled).toEqual([publicAddress]);
});

it.each(hostileUrls)('never looks up or dials %s: %s', async (_name, url, reason) => {
  expect(await post(url)).toEqual(refused(reason));
  expect({ lookups, dialled }).toEqual({ lookups: [], dialled: [] });
});

it.each(hostileAnswers)('never dials a name that resolves to %s, %s', async (_name, address) => {
  for (const addresses of [[address], [address, publicAddress], [publicAddress, address]]) {
    answer = addresses;
    expect(await post()).toEqual(refused('address_not_public'));
  }
  expect(dialled).toEqual([]);
});

it('looks a name up once for an attempt, and dials the address that was checked', async () => {
  const answers = [[publicAddress], ['127.0.0.1'], []];
  const rebinding = createReceivers({
    resolve: async () => answers.shift() ?? [],
    route: (address) => {
      dialled.push(address);
      return '127.0.0.9';
    },
  });
  expect(await post(undefined, rebinding)).toEqual(refused('connection_refused'));
  expect(dialled).toEqual([publicAddress]);
  expect(await post(undefined, rebinding)).toEqual(refused('address_not_public'));
  expect(await post(undefined, rebinding)).toEqual(refused('name_not_found'));
});

describe('by DNS', () => {
  let server: DnsServer;
  beforeAll(async () => {
    server = await startDnsServer({
      'hooks.example.com': [publicAddress, '93.184.216.35'],
      'six.example.com': [],
      'broken.example.com': 'SERVFAIL',
      'silent.example.com': 'silence',
    });
  });
  beforeEach(() => server.questions.splice(0));
  afterAll(() => server.stop());
  const resolve = (name: string, signal: AbortSignal) => resolveByDns(name, signal, [server.address]);

  it('asks for A records of the very name, once', async () => {
    const addresses = await resolve('hooks.example.com', new AbortController().signal);
    expect(addresses).toEqual([publicAddress, '93.184.216.35']);
    expect(server.questions).toEqual(['A hooks.example.com']);
  });

  it.each([
    ['that does not exist', 'none.example.com', 'name_not_found'],
    ['that has IPv6 addresses alone', 'six.example.com', 'name_not_found'],
    ['whose servers fail', 'broken.example.com', 'name_lookup_failed'],
    ['whose servers do not answer', 'silent.example.com', 'connect_timeout'],
  ])('names the failure of a name %s', async (_case, name, reason) => {
    const client = createReceivers({ resolve, ...(name.startsWith('silent') && { connectTimeout: 300 }) });
    expect(await post(`https://${name}/`, client)).toEqual(refused(reason));
    expect(new Set(server.questions)).toEqual(new Set([`A ${name}`]));
  });
});
