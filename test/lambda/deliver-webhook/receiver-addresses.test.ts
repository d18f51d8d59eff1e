import { createReceivers, type Resolve, resolveByDns } from '../../../lambda/deliver-webhook/receivers';
import { startDnsServer } from './dns-server';

/** Never dialled when a name resolves to it, alone or beside a public address. */
const hostileAnswers = [
  '127.0.0.1 127.255.255.255 0.0.0.0',
  '10.0.0.1 172.16.0.1 172.31.255.254 192.168.0.1',
  // Metadata, credentials, and what another cloud uses for metadata.
  '169.254.169.254 169.254.170.2 100.100.100.200',
  '192.0.2.1 198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255',
  '::1 fd00:ec2::254 fe80::1%eth0 2606:2800:220:1::1',
  '::ffff:127.0.0.1 ::ffff:93.184.216.34 64:ff9b::a00:1 2002:a00:1::',
  // No canonical addresses.
  'localhost 93.184.216.34:80 0177.0.0.1 127.1 2130706433',
];
const publicAddress = '93.184.216.34';

/** Attempts a delivery. @returns its result, the names that it looked up, and the addresses that it dialled */
async function attempt(resolve: Resolve, name = 'hooks.example.com', connectTimeout = 5_000) {
  const lookUp = jest.fn(resolve);
  // Nothing listens at port 443 of this address.
  const route = jest.fn((_address: string) => '127.0.0.9');
  const receivers = createReceivers({ resolve: lookUp, route, connectTimeout });
  const result = await receivers.post({ webhookId: 'wh-1', url: `https://${name}/`, headers: {}, body: '' });
  const lookups = lookUp.mock.calls.map(([asked]) => asked);
  return { reason: result.answered ? 'answered' : result.reason, lookups, dialled: route.mock.calls.flat() };
}

it.each(hostileAnswers)('never dials a name that resolves to %s', async (hostile) => {
  const refused = { reason: 'address_not_public', lookups: ['hooks.example.com'], dialled: [] };
  for (const address of hostile.split(' '))
    for (const addresses of [[address], [address, publicAddress], [publicAddress, address]])
      expect([addresses, await attempt(async () => addresses)]).toEqual([addresses, refused]);
});

let server: Awaited<ReturnType<typeof startDnsServer>>;
beforeAll(async () => {
  server = await startDnsServer({
    'hooks.example.com': [publicAddress],
    // IPv6 only.
    'six.example.com': [],
    'broken.example.com': 'SERVFAIL',
    'silent.example.com': 'silence',
  });
});
afterAll(() => server.stop());

it.each([
  ['hooks.example.com', 'connection_refused', [publicAddress]],
  ['none.example.com', 'name_not_found', []],
  ['six.example.com', 'name_not_found', []],
  ['broken.example.com', 'name_lookup_failed', []],
  ['silent.example.com', 'connect_timeout', []],
])('looks up A records of %s once by DNS: %s, having dialled %j', async (name, reason, dialled) => {
  const resolve: Resolve = (asked, signal) => resolveByDns(asked, signal, [server.address]);
  const limit = reason === 'connect_timeout' ? 300 : undefined;
  expect(await attempt(resolve, name, limit)).toEqual({ reason, lookups: [name], dialled });
  expect(new Set(server.questions.splice(0))).toEqual(new Set([`1 ${name}`]));
});
