import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { dirname, join } from 'node:path';
import tls, { type TLSSocket } from 'node:tls';
import { createAuthority, type TestAuthority } from '../support/certificates';
import { hostileToAws } from '../support/hostile-variables';
import { first } from '../support/rows';
import { writeOutputs } from '../support/wallet-command';
import { accountVariables, type Replies } from './account';
import { useInstantWaits } from './instant-waits';
import { groupId, identityId, organizationId, result, useRegion, wallet, webhookId } from './region';

useInstantWaits();
const region = useRegion();

const ids = { organizationId, callerId: identityId, userGroupId: groupId };
const record = { operation: 'Auth:UserGroups:Delete', outcome: 'deleted', identityId };
const headers = { 'content-type': 'application/json' };
const origins = { environment: first.name, addresses: ['127.0.0.1/32'] };
const deletion = `api:DELETE /auth/user-groups/${groupId}`;
const attempting = (outcome: string, status: number | null) => ({
  'list-delivery-attempts': () => result({ attempts: [{ outcome, status, reason: 'ok', durationMs: 12 }] }),
});

/** Runs `smoke` on an environment where everything works, but for these operations and replies: its steps, by name. */
async function smoke(
  operations: Parameters<typeof region.answer>[0] = {},
  replies: Replies = {},
  outputs = region.outputs,
) {
  const deletions = [{ body: '{}' }, { status: 404, body: '{"code":"user_group_not_found"}' }];
  const working = {
    seed: () => result(ids),
    'list-audit-records': () => result({ records: [record] }),
    'add-webhook': () => result({ webhookId, url: 'https://api.customer.com/' }),
    ...attempting('delivered', 204),
    'remove-ephemeral-organizations': () => result({ removed: [organizationId] }),
  };
  const served = {
    [deletion]: () => ({ headers, ...deletions.shift() }),
    'api:GET /webhook-origins': () => ({ headers, body: JSON.stringify(origins) }),
  };
  region.answer({ ...working, ...operations }, { ...served, ...replies });
  const { exitCode, stdout, stderr } = await wallet(
    ...['smoke', '--json', '--allow-production', '--outputs', outputs],
  );
  const { passed, steps } = JSON.parse(stdout);
  const outcomes = steps.map(({ name, outcome }: Record<string, string>) => `${outcome}: ${name}`);
  return { exitCode, stderr, passed, steps, outcomes };
}

it('reports every step and its prerequisites, and cleans up after a failure', async () => {
  const failing = {
    [deletion]: () => ({ status: 500 }),
    'api:GET /webhook-origins': () => ({ headers, body: JSON.stringify({ ...origins, reserve: [] }) }),
  };
  const { exitCode, passed, steps, outcomes, stderr } = await smoke({}, failing);
  expect({ exitCode, passed }).toEqual({ exitCode: 1, passed: false });
  expect(outcomes.slice(0, 5)).toEqual([
    'passed: create an ephemeral organization',
    'failed: delete its group through the API',
    'skipped: delete it again: expect 404',
    'skipped: find the audit record',
    'failed: check GET /webhook-origins',
  ]);
  expect(steps.at(-1)).toMatchObject({ name: 'clean up', detail: `removed ${organizationId}` });
  expect(stderr).toContain(`${first.name}: 8 passed, 2 failed, 2 skipped, in `);
  expect(stderr).toContain('To "delete its group through the API": A proxy or a network\'s sign-in page');
});

it('has not passed when Ctrl-C ended it, and cleans up', async () => {
  const seed = () => {
    process.emit('SIGINT');
    return result(ids);
  };
  const { exitCode, passed, outcomes } = await smoke({ seed });
  expect({ exitCode, passed }).toEqual({ exitCode: 1, passed: false });
  expect(outcomes.join()).not.toContain('failed');
  expect(outcomes.at(-1)).toBe('passed: clean up');
});

describe('of a deployed environment with a custom domain name', () => {
  // `localhost` leads to this machine, as DNS leads to a stack; nothing leads to `.invalid`.
  const [led, unknown] = ['localhost', 'api.customer.invalid'];
  /** SNI, `Host` and path of each request to the API. */
  const requests: (readonly unknown[])[] = [];
  const tunnels: unknown[] = [];
  let authority: TestAuthority;
  let api: https.Server;
  let proxy: http.Server;
  let env: NodeJS.ProcessEnv;
  const portOf = (server: http.Server | https.Server) => (server.address() as AddressInfo).port;

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
      const forwarded = { method, headers: others };
      http
        .request(`${region.endpoints.lambda}${url}`, forwarded, (answer) => {
          response.writeHead(answer.statusCode ?? 0, answer.headers);
          answer.pipe(response);
        })
        .end();
    });
    // As a proxy does, it resolves the name.
    proxy = http.createServer().on('connect', ({ url = '' }, socket) => {
      tunnels.push(url);
      const [host, port] = url.split(':');
      if (host === unknown) return socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
      const tunnel = connect(Number(port), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        tunnel.pipe(socket).pipe(tunnel);
      });
      const end = () => socket.destroy();
      return tunnel.on('end', end).on('error', end);
    });
    for (const server of [api, proxy]) await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(() => {
    api.closeAllConnections();
    for (const server of [api, proxy]) server.close();
  });
  beforeEach(() => {
    ({ env } = process);
    for (const seen of [requests, tunnels]) seen.length = 0;
    const unset = Object.fromEntries(Object.keys(hostileToAws).map((name) => [name, undefined]));
    const { lambda, kms } = region.endpoints;
    process.env = { ...env, ...unset, ...accountVariables(lambda), AWS_ENDPOINT_URL_KMS: kms };
    // As `NODE_EXTRA_CA_CERTS` does for a new process.
    const { createSecureContext } = tls;
    jest
      .spyOn(tls, 'createSecureContext')
      .mockImplementation((options) => createSecureContext({ ca: authority.cert, ...options }));
  });
  afterEach(() => {
    process.env = env;
  });

  async function smokeOf(name: string, attempt: Parameters<typeof smoke>[0], replies: Replies = {}) {
    const outputs = JSON.parse(readFileSync(region.outputs, 'utf8'));
    Object.assign(outputs[first.stackId], {
      ...{ ApiBaseUrl: `https://${name}:${portOf(api)}`, ApiDomainTarget: '127.0.0.1' },
    });
    const folder = join(dirname(region.outputs), 'deployed');
    mkdirSync(folder, { recursive: true });
    return smoke(attempt, replies, writeOutputs(folder, outputs));
  }

  const delivery = ['receive the delivery', 'check its source address', 'verify its signature'];
  const lost = attempting('failed', null);
  const atLast = (outcomes: readonly string[]) => outcomes.slice(-4, -1);

  it.each([
    [undefined, 'getaddrinfo'],
    ['HTTPS_PROXY', '502'],
  ])(
    'proves the stack before DNS leads anywhere, with the proxy of %s, and the delivery is pending',
    async (variable, reason) => {
      if (variable) process.env[variable] = `http://127.0.0.1:${portOf(proxy)}`;
      const { exitCode, passed, outcomes, steps, stderr } = await smokeOf(unknown, lost);
      expect({ outcomes, exitCode, passed }).toMatchObject({ exitCode: 0, passed: true });
      expect(outcomes).toContain('passed: delete its group through the API');
      expect(outcomes).toContain('passed: find it in the delivery log');
      expect(atLast(outcomes)).toEqual(delivery.map((name) => `pending: ${name}`));
      expect(stderr).toContain(': 9 passed, 4 pending, in ');
      const dns = steps.find(({ name }: Record<string, string>) => name === 'follow DNS to this stack');
      expect(dns.outcome).toBe('pending');
      const host = `${unknown}:${portOf(api)}`;
      expect(dns.detail).toContain(`${host} does not lead to it yet: point its CNAME record to 127.0.0.1.`);
      expect(dns.detail).toContain(reason);
      const paths = [`DELETE /auth/user-groups/${groupId}`, `DELETE /auth/user-groups/${groupId}`];
      expect(requests).toEqual([...paths, 'GET /webhook-origins'].map((path) => [unknown, host, path]));
      const own = `127.0.0.1:${portOf(api)}`;
      expect(tunnels).toEqual(variable ? [own, own, own, host, host] : []);
    },
  );

  it.each([
    [204, 'delivered', 'passed', true],
    [null, 'given_up', 'failed', false],
    [401, 'given_up', 'passed', false],
  ])(
    'where DNS leads to the stack, requires the delivery: status %s, %s',
    async (status, outcome, received, passes) => {
      const { passed, outcomes } = await smokeOf(led, attempting(outcome, status));
      expect(outcomes).toContain('passed: follow DNS to this stack');
      expect(outcomes).toContain(`${received}: receive the delivery`);
      expect({ outcomes, passed }).toMatchObject({ passed: passes });
      expect(outcomes.join()).not.toContain('pending');
    },
  );

  it('finds that DNS leads to the stack that served before, whatever became of the delivery', async () => {
    const former = { ...origins, addresses: ['203.0.113.9/32'], reserve: ['127.0.0.1/32'] };
    const bodies = [origins];
    const replies = {
      'api:GET /webhook-origins': () => ({ headers, body: JSON.stringify(bodies.shift() ?? former) }),
    };
    const { passed, outcomes, steps } = await smokeOf(led, attempting('delivered', 204), replies);
    expect({ outcomes, passed }).toMatchObject({ passed: true });
    expect(atLast(outcomes)).toEqual(delivery.map((name) => `pending: ${name}`));
    const details = steps.map(({ detail }: Record<string, string>) => detail).join('\n');
    expect(details).toContain('203.0.113.9/32');
  });

  it('excuses nothing after one failure of the request by name', async () => {
    const statuses = [200, 503];
    const replies = {
      'api:GET /webhook-origins': () => ({
        headers,
        status: statuses.shift() ?? 200,
        body: JSON.stringify(origins),
      }),
    };
    const { outcomes } = await smokeOf(led, attempting('given_up', null), replies);
    expect(outcomes).toContain('passed: follow DNS to this stack');
    expect(outcomes).toContain('failed: receive the delivery');
  });

  it('excuses nothing when the stack itself fails', async () => {
    const replies = { 'api:GET /webhook-origins': () => ({ status: 500 }) };
    const { exitCode, outcomes } = await smokeOf(unknown, lost, replies);
    expect(exitCode).toBe(1);
    expect(outcomes).toContain('skipped: follow DNS to this stack');
    expect(outcomes).toContain('failed: receive the delivery');
  });

  it('verifies the certificate for the name', async () => {
    const { outcomes, steps } = await smokeOf('api.other.invalid', lost);
    expect(outcomes).toContain('failed: delete its group through the API');
    expect(steps[1].detail).toContain("does not match certificate's altnames: Host: api.other.invalid.");
    expect(requests).toEqual([]);
  });
});
