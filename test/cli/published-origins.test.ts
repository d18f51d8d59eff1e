import { formatAllowList } from '../../cli/allow-lists/formats';
import { type HttpServer, startHttpServer } from '../support/http-server';
import { first } from '../support/rows';
import { runWallet } from '../support/wallet-command';

const published = {
  environment: 'eu',
  region: 'eu-central-1',
  addresses: ['3.120.14.7/32'],
  reserve: ['3.120.15.1/32'],
  signatureHeaders: ['webhook-signature'],
  deprecated: true,
  deprecation: { since: '2026-11-20', sunset: '2027-06-30' },
  added: 'later',
};
let answer: { readonly status?: number; readonly location?: string; readonly body: string };
let asked: string[] = [];
let server: HttpServer;
beforeAll(async () => {
  server = await startHttpServer(({ url }, response) => {
    asked.push(url ?? '');
    response
      .writeHead(answer.status ?? 200, answer.location ? { location: answer.location } : {})
      .end(answer.body);
  });
});
afterAll(() => server.stop());
beforeEach(() => {
  asked = [];
  answer = { body: JSON.stringify(published) };
});

const origins = (...args: string[]) => runWallet(['origins', '--from', `${server.url}api/`, ...args]);

it('prints what the API publishes, without outputs', async () => {
  const { addresses, reserve, deprecation } = published;
  const { exitCode, stdout, stderr } = await origins('--format', 'nftables', '--port', '8443');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  const origin = { environment: 'eu', region: 'eu-central-1', deprecation };
  const [address = '', kept = ''] = [addresses[0], reserve[0]].map((block) => block?.replace('/32', ''));
  expect(stdout).toBe(
    `${formatAllowList('nftables', [{ ...origin, address, reserve: kept }], { port: 8443 })}\n`,
  );
  expect(asked).toEqual(['/api/webhook-origins']);
});

it('compares a list with it', async () => {
  const { exitCode, stderr } = await origins('--check', __filename);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('stale') });
});

it("warns of this machine's own address, which only this machine's own API may publish", async () => {
  answer = { body: JSON.stringify({ ...published, addresses: ['127.0.0.1/32'] }) };
  expect(await origins()).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('127.0.0.1 is this machine itself'),
  });
});

it.each<[string, object]>([
  ['another status', { status: 503 }],
  ['a redirect', { status: 302, location: '/elsewhere' }],
  ['no JSON', { body: '<html>' }],
  ['no object', { body: 'null' }],
  ...Object.entries({
    environment: ['eu\ndeny all;', '', 1, undefined],
    region: ['eu central', undefined],
    addresses: [
      [],
      ['3.120.14.7'],
      ['3.120.14.7/24'],
      ['10.0.0.1/32'],
      ['3.120.14.7/32', '3.120.14.8/32'],
      '3.120.14.7/32',
    ],
    reserve: [[], ['0.0.0.0/32'], null],
    deprecation: [{}, { since: 'today\n' }, { since: '2026-11-20', sunset: 'soon' }, 'yes'],
  }).flatMap(([name, values]) =>
    values.map((value): [string, object] => [
      `${name} ${JSON.stringify(value)}`,
      { body: JSON.stringify({ ...published, [name]: value }) },
    ]),
  ),
])('refuses an answer with %s', async (_, given) => {
  answer = { ...answer, ...given };
  const { exitCode, stdout, stderr } = await origins();
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toContain(`GET ${server.url}api/webhook-origins was answered with`);
  expect(asked).toEqual(['/api/webhook-origins']);
});

it('fails when nobody answers', async () => {
  const gone = await startHttpServer(() => undefined);
  await gone.stop();
  const { exitCode, stderr } = await runWallet(['origins', '--from', gone.url]);
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('ECONNREFUSED'),
  });
});

it.each([
  ['http://api.example.com'],
  ['ftp://api.example.com'],
  ['https://user:secret@api.example.com'],
  ['https://api.example.com/?x=1'],
  ['api.example.com'],
  ['https://api.example.com', '--environment', first.name],
  ['https://api.example.com', '--outputs', 'outputs.json'],
])('is used wrongly with %s %s', async (...args) => {
  expect(await runWallet(['origins', '--from', ...args])).toMatchObject({ exitCode: 2, stdout: '' });
});
