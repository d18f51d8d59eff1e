import { createReceivers, resolveByDns } from '../../../lambda/deliver-webhook/receivers';
import { type DnsServer, startDnsServer } from '../../support/dns-server';

const webhookId = 'wh-00001-00001-0000000000000001';

let server: DnsServer;
beforeAll(async () => {
  server = await startDnsServer({
    'hooks.example.com': ['93.184.216.34', '93.184.216.35'],
    'six.example.com': [],
    'broken.example.com': 'SERVFAIL',
    'silent.example.com': 'silence',
  });
});
beforeEach(() => {
  server.questions.splice(0);
});
afterAll(() => server.stop());

const resolve = (name: string, signal: AbortSignal) => resolveByDns(name, signal, [server.address]);
const never = new AbortController().signal;

it('asks for A records of the very name, once', async () => {
  expect(await resolve('hooks.example.com', never)).toEqual(['93.184.216.34', '93.184.216.35']);
  expect(server.questions).toEqual(['A hooks.example.com']);
});

it.each([
  ['that does not exist', 'none.example.com', 'name_not_found'],
  ['that has IPv6 addresses alone', 'six.example.com', 'name_not_found'],
  ['whose servers fail', 'broken.example.com', 'name_lookup_failed'],
])('of a name %s the attempt says so', async (_case, name, reason) => {
  expect(
    await createReceivers({ resolve }).post({ webhookId, url: `https://${name}/`, headers: {}, body: '' }),
  ).toEqual({
    answered: false,
    reason,
  });
  expect(new Set(server.questions)).toEqual(new Set([`A ${name}`]));
});

it('is cancelled when the time for the connection is over', async () => {
  const begin = performance.now();
  const asking = resolve('silent.example.com', AbortSignal.timeout(100));
  await expect(asking).rejects.toMatchObject({ code: 'ECANCELLED' });
  expect(performance.now() - begin).toBeLessThan(1_500);
});
