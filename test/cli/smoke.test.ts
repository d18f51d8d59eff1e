import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import tls, { type TLSSocket } from 'node:tls';
import { createAuthority, type TestAuthority } from '../support/certificates';
import type { Replies } from './account';
import { attempt, healthy, json, origins, useCommands } from './every-command';
import { groupId } from './region';

// The steps themselves: every-command.test.ts. Here, of an environment with a custom domain name.
const { account, run } = useCommands();

// `localhost` leads to this machine, as DNS leads to a stack; nothing leads to `.invalid`.
const [led, unknown] = ['localhost', 'api.customer.invalid'];
/** SNI, `Host` and path of each request to the API. */
const requests: (readonly unknown[])[] = [];
let authority: TestAuthority;
let api: https.Server;
const port = () => (api.address() as AddressInfo).port;

beforeAll(async () => {
  authority = await createAuthority();
  const certificates = {
    [led]: await authority.issue({ name: led }),
    [unknown]: await authority.issue({ name: unknown }),
  };
  const SNICallback = (name: string, done: (error: null, context?: tls.SecureContext) => void) =>
    done(null, tls.createSecureContext(certificates[name] ?? certificates[unknown]));
  api = https.createServer({ SNICallback }, (request, response) => {
    const { method = '', url = '', headers } = request;
    const { host, ...others } = headers;
    requests.push([(request.socket as TLSSocket).servername, host, `${method} ${url}`]);
    http
      .request(`${account().url}${url}`, { method, headers: others }, (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      })
      .end();
  });
  await once(api.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => {
  api.closeAllConnections();
  api.close();
});
beforeEach(() => {
  requests.length = 0;
  // As `NODE_EXTRA_CA_CERTS` does for a new process.
  const { createSecureContext } = tls;
  jest
    .spyOn(tls, 'createSecureContext')
    .mockImplementation((options) => createSecureContext({ ca: authority.cert, ...options }));
});

/** Runs `smoke` with an attempt of these: its exit code and the outcome of each step. */
async function smoke(name: string, outcome: string, status: number | null, replies: Replies = {}) {
  const attempts = [{ ...attempt, outcome, status }];
  const { exitCode, printed, results } = await run(['smoke', '--allow-production', '--json'], {
    replies: { ...healthy({ 'list-delivery-attempts': () => ({ attempts }) }), ...replies },
    outputs: { ApiBaseUrl: `https://${name}:${port()}`, ApiDomainTarget: '127.0.0.1' },
  });
  const found: readonly { name: string; outcome: string }[] = JSON.parse(results).steps;
  const steps = Object.fromEntries(found.map(({ name, outcome }) => [name, outcome]));
  return { exitCode, printed, steps };
}

const delivery = (arrival: string, source = arrival, signature = arrival) => ({
  'receive the delivery': arrival,
  'check its source address': source,
  'verify its signature': signature,
});

it('proves the stack before DNS leads anywhere, and the delivery is pending', async () => {
  const { exitCode, steps, printed } = await smoke(unknown, 'failed', null);
  const proven = { 'delete its group through the API': 'passed', 'find it in the delivery log': 'passed' };
  expect({ exitCode, steps }).toMatchObject({
    exitCode: 0,
    steps: { ...proven, 'follow DNS to this stack': 'pending', ...delivery('pending') },
  });
  expect(printed).toContain(': 9 passed, 4 pending, in ');
  // It does not wait for an attempt that succeeds.
  const looks = account().calls.filter(({ input }) => input.operation === 'list-delivery-attempts');
  expect(looks).toHaveLength(1);
  const host = `${unknown}:${port()}`;
  expect(printed).toMatch(`${host} does not lead to it yet: point its CNAME record to 127.0.0.1.`);
  expect(printed).toContain('getaddrinfo');
  const deletion = `DELETE /auth/user-groups/${groupId}`;
  const paths = [deletion, deletion, 'GET /webhook-origins'];
  expect(requests).toEqual(paths.map((path) => [unknown, host, path]));
});

it.each([
  [204, 'delivered', delivery('passed'), 0],
  [null, 'given_up', delivery('failed', 'skipped', 'skipped'), 1],
  [401, 'given_up', delivery('passed', 'passed', 'failed'), 1],
])(
  'where DNS leads to the stack, requires the delivery: status %s, %s',
  async (status, outcome, found, exitCode) => {
    const steps = { 'follow DNS to this stack': 'passed', ...found };
    expect(await smoke(led, outcome, status)).toMatchObject({ exitCode, steps });
  },
);

const publishing = (...replies: readonly object[]): Replies => {
  const left = [...replies];
  return { 'api:GET /webhook-origins': () => (left.length > 1 ? left.shift() : left[0]) ?? {} };
};

it('finds that DNS leads to the stack that served before, whatever became of the delivery', async () => {
  const former = { ...origins, addresses: ['203.0.113.9/32'], reserve: origins.addresses };
  const replies = publishing(json(origins), json(former));
  const { exitCode, steps, printed } = await smoke(led, 'delivered', 204, replies);
  expect({ exitCode, steps }).toMatchObject({ exitCode: 0, steps: delivery('pending') });
  expect(printed).toContain('203.0.113.9/32');
});

it.each([
  ['after one failure', led, publishing(json(origins), { status: 503 }, json(origins)), 'passed'],
  ['when the stack itself fails', unknown, publishing({ status: 500 }), 'skipped'],
])('excuses nothing %s', async (_, name, replies, followed) => {
  const { exitCode, steps } = await smoke(name, 'given_up', null, replies);
  const expected = { 'follow DNS to this stack': followed, 'receive the delivery': 'failed' };
  expect({ exitCode, steps }).toMatchObject({ exitCode: 1, steps: expected });
});

it('verifies the certificate for the name', async () => {
  const { steps, printed } = await smoke('api.other.invalid', 'failed', null);
  expect(steps).toMatchObject({ 'delete its group through the API': 'failed' });
  expect(printed).toContain("does not match certificate's altnames: Host: api.other.invalid.");
  expect(requests).toEqual([]);
});
