import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expectDocumented } from '../../support/openapi';
import {
  FakeFunction,
  gatewayResponse,
  get,
  groups,
  lambda,
  method,
  resource,
  send,
  sendRaw,
  stage,
  start,
  stopAll,
} from './support';

afterEach(stopAll);

const target = () => new FakeFunction('groups', () => ({ statusCode: 200, body: '{}' }));
const root = (integration: object, more: object = {}) => ({
  Root: method('root', 'GET', integration, more),
});
const problems = {
  NoRoute: gatewayResponse('MISSING_AUTHENTICATION_TOKEN', '404'),
  Four: gatewayResponse('DEFAULT_4XX', '404'),
  Large: gatewayResponse('REQUEST_TOO_LARGE', '413'),
  Bad: gatewayResponse('BAD_REQUEST_PARAMETERS', '400'),
  Slow: gatewayResponse('THROTTLED', '429'),
};

test.each([
  ['GET', '/nowhere'],
  ['PATCH', '/groups/a'],
  ['OPTIONS', '*'],
])('%s %s has no route: MISSING_AUTHENTICATION_TOKEN', async (httpMethod, path) => {
  const gateway = await start(groups(), [target()]);
  const { status, headers } = await send(gateway, httpMethod, path);
  expect(status).toBe(403);
  expect(headers['x-amzn-errortype']).toBe('MissingAuthenticationTokenException');
});

test('without a route, a bearer token is taken for a broken signature: DEFAULT_4XX', async () => {
  const ask = async (resources: object) =>
    send(await start({ ...groups(), ...resources }), 'GET', '/nowhere', { authorization: 'Bearer t' });
  expect(await ask({})).toMatchObject({ status: 403 });
  expect(await ask(problems)).toMatchObject({ status: 404, json: { code: 'DEFAULT_4XX' } });
});

test('a gateway response has its status, headers and template; an unset variable is empty', async () => {
  const gateway = await start({ ...groups(), ...problems }, [target()]);
  const { status, headers, json } = await send(gateway, 'GET', '/nowhere');
  expect(status).toBe(404);
  expect(headers['content-type']).toBe('application/problem+json');
  expect(json).toEqual({
    code: 'MISSING_AUTHENTICATION_TOKEN',
    requestId: headers['x-amz-apigw-id'],
    unset: '',
  });
});

test('a type without a gateway response takes that of DEFAULT_4XX', async () => {
  const gateway = await start({ ...groups(), Four: problems.Four });
  const refusal = await send(gateway, 'DELETE', '/groups/a');
  expect(refusal).toMatchObject({ status: 404, json: { code: 'DEFAULT_4XX' } });
});

test('a stage throttles each method by a token bucket with rate and burst', async () => {
  let now = 0;
  const limits = { ThrottlingRateLimit: 2, ThrottlingBurstLimit: 3 };
  const resources = {
    ...groups(),
    ...problems,
    ...root(lambda('groups')),
    Stage: stage({
      MethodSettings: [
        { ResourcePath: '/*', HttpMethod: '*', ...limits },
        { ResourcePath: '/~1', HttpMethod: 'GET', ThrottlingRateLimit: 1, ThrottlingBurstLimit: 1 },
      ],
    }),
  };
  const gateway = await start(resources, [target()], { clock: () => now });
  const statuses = async (path: string, count: number) => {
    const answers = [];
    for (let i = 0; i < count; i += 1) answers.push((await send(gateway, 'GET', path)).status);
    return answers;
  };
  expect(await statuses('/groups/a', 5)).toEqual([200, 200, 200, 429, 429]);
  expect(await statuses('/', 2)).toEqual([200, 429]);
  now += 500;
  expect(await statuses('/groups/a', 2)).toEqual([200, 429]);
});

const mock = (template: string) => ({
  Type: 'MOCK',
  RequestTemplates: { 'application/json': '{"statusCode":200}' },
  PassthroughBehavior: 'NEVER',
  IntegrationResponses: [
    {
      StatusCode: '200',
      ResponseParameters: { 'method.response.header.Cache-Control': "'no-store'" },
      ResponseTemplates: { 'application/json': template },
    },
  ],
});

test('a MOCK integration answers from its templates', async () => {
  const stageOf = mock('{"stage":"$context.stage"}');
  const gateway = await start({
    ...groups(),
    ...root(stageOf, { MethodResponses: [{ StatusCode: '200' }] }),
    Undeclared: method('Groups', 'GET', stageOf),
  });
  const { status, headers, json } = await send(gateway, 'GET', '/');
  expect({ status, json }).toEqual({ status: 200, json: { stage: 'prod' } });
  expect(headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'application/json' });
  for (const type of ['text/plain', 'constructor', '__proto__', 'toString']) {
    expect((await send(gateway, 'GET', '/', { 'content-type': type })).status).toBe(415);
  }
  expect((await send(gateway, 'GET', '/groups')).status).toBe(500);
});

test('a body of 10 MB passes, a byte more is 413, with and without a stated length', async () => {
  const echo = new FakeFunction('groups', (event) => ({ statusCode: 200, body: String(event.body.length) }));
  const gateway = await start({ ...groups(), ...problems }, [echo]);
  const limit = 10 * 1024 * 1024;
  expect((await send(gateway, 'GET', '/groups/a', {}, Buffer.alloc(limit, 'a'))).body).toBe(String(limit));
  const chunked = { 'transfer-encoding': 'chunked' };
  for (const headers of [{}, chunked]) {
    expect(await send(gateway, 'GET', '/groups/a', headers, Buffer.alloc(limit + 1, 'a'))).toMatchObject({
      status: 413,
      json: { code: 'REQUEST_TOO_LARGE' },
    });
  }
  expect(echo.events).toHaveLength(1);
});

test.each([9_000, 10_300, 100_000])('headers of %i bytes are taken or refused with 413', async (size) => {
  const gateway = await start({ ...groups(), ...problems }, [target()]);
  const { status, headers } = await send(gateway, 'GET', '/groups/a', { 'x-big': 'a'.repeat(size) });
  expect(status).toBe(size < 10_240 ? 200 : 413);
  expect(headers['x-amz-apigw-id']).toBeDefined();
});

test.each([
  ['no HTTP at all', 'hello\r\n\r\n', 400],
  ['no Host', 'GET /groups/a HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['two Hosts', 'GET /groups/a HTTP/1.1\r\nHost: x\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
  ['two Hosts in HTTP/1.0', 'GET /groups/a HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n', 400],
  ['two lengths', 'GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na', 400],
  ['a broken chunk', 'GET /groups/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 400],
  ['a broken percent sign', 'GET /groups/%zz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
  ['CONNECT', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', 404],
  ['an absolute target', 'GET http://x/groups/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 200],
  ['another scheme', 'GET https://x/groups/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
  ['another host', 'GET http://y/groups/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
  ['HTTP/1.0', 'GET /groups/a HTTP/1.0\r\n\r\n', 200],
  [
    'an unknown expectation',
    'GET /groups/a HTTP/1.1\r\nHost: x\r\nExpect: foo\r\nConnection: close\r\n\r\n',
    200,
  ],
  ['an upgrade', 'GET /groups/a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n', 200],
])('%s gets a response', async (_, text, status) => {
  const gateway = await start({ ...groups(), ...problems }, [target()]);
  const received = await sendRaw(gateway, text);
  expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  if (status === 400) expect(received).toContain('"code":"BAD_REQUEST_PARAMETERS"');
  expect(await get(gateway)).toMatchObject({ status: 200 });
});

test('a host is a name or an address, perhaps with a port: any other is malformed', async () => {
  const gateway = await start({ ...groups(), ...problems }, [target()]);
  const ask = async (host: string) =>
    (await sendRaw(gateway, `GET /groups/a HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).slice(
      9,
      12,
    );
  for (const host of ['x:80', 'X.example.', '127.0.0.1:1', '[::1]:80'])
    expect([host, await ask(host)]).toEqual([host, '200']);
  for (const host of ['', 'a b', 'a,b', 'a/b', 'me@x', 'x:port', 'x:123456', '[x]', '..', '%78'])
    expect([host, await ask(host)]).toEqual([host, '400']);
});

test('any bytes on the socket leave the gateway running', async () => {
  const gateway = await start({ ...groups(), ...problems }, [target()]);
  const words = ['GET ', 'DELETE ', '/groups/', ' HTTP/1.1', '\r\n', 'Host: x', 'Content-Length: 5'];
  const line = fc.constantFrom(...words, ':', '%', '\0', 'ÿ');
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 12 }), async (parts) => {
      const received = await sendRaw(gateway, `${parts.join('')}\r\n\r\n`).catch(() => '');
      expect(received === '' || received.startsWith('HTTP/1.1 ')).toBe(true);
    }),
    { numRuns: 200 },
  );
  expect((await get(gateway)).status).toBe(200);
});

test('a client that is too slow gets a documented 408, with the headers of DEFAULT_4XX', async () => {
  const headers = { 'gatewayresponse.header.Access-Control-Allow-Origin': "'http://page'" };
  const Four = gatewayResponse('DEFAULT_4XX', '404', { ResponseParameters: headers });
  const gateway = await start({ ...groups(), Four }, [target()], { requestTimeoutMs: 100 });
  const slowBody = 'GET /groups/a HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\na';
  for (const unfinished of ['GET / HTTP/1.1\r\nHost:', slowBody]) {
    const received = await sendRaw(gateway, unfinished, true);
    expect(received).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(received).toContain('Access-Control-Allow-Origin: http://page\r\n');
    const [, contentType] = /^Content-Type: (.+)\r$/m.exec(received) ?? [];
    const body = received.split('\r\n\r\n')[1] ?? '';
    expectDocumented({ method: 'GET', path: '/webhook-origins', status: 408, contentType, body });
  }
});

test('a client that disconnects does not disturb the next one', async () => {
  const slow = new FakeFunction('groups', () => sleep(50).then(() => ({ statusCode: 200 })));
  const gateway = await start(groups(), [slow]);
  const socket = connect(gateway.port, '127.0.0.1');
  socket.write('GET /groups/a HTTP/1.1\r\nHost: x\r\n\r\n');
  while (slow.events.length === 0) await sleep(5);
  socket.destroy();
  expect((await send(gateway, 'GET', '/groups/b')).status).toBe(200);
});

test('connections are kept, and several requests on one are answered in order', async () => {
  const echo = new FakeFunction('groups', async ({ pathParameters: { id } }) => {
    await sleep(id === 'a' ? 50 : 0);
    return { statusCode: 200, body: `<${id}>` };
  });
  const gateway = await start(groups(), [echo]);
  const get = (id: string, more = '') => `GET /groups/${id} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
  const received = await sendRaw(gateway, get('a') + get('b') + get('c', 'Connection: close\r\n'), true);
  expect(received.match(/<\w>/g)).toEqual(['<a>', '<b>', '<c>']);
});

test('close() lets running requests end, for a second at most', async () => {
  const slow = new FakeFunction('groups', (event) =>
    event.pathParameters.id === 'long' ? new Promise(() => {}) : sleep(100).then(() => ({ statusCode: 200 })),
  );
  const gateway = await start(groups(), [slow]);
  const short = send(gateway, 'GET', '/groups/short');
  const long = send(gateway, 'GET', '/groups/long').catch((error: Error) => error);
  while (slow.events.length < 2) await sleep(5);
  const before = Date.now();
  await gateway.close();
  expect(Date.now() - before).toBeLessThan(2_000);
  expect((await short).status).toBe(200);
  expect(await long).toHaveProperty('code', 'ECONNRESET');
  await expect(get(gateway)).rejects.toThrow('ECONNREFUSED');
});

test('a taken port is an error with the code EADDRINUSE', async () => {
  const { port } = await start(groups(), [target()]);
  await expect(start(groups(), [target()], { port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
});

test.each([
  ['an integration of another type', root({ Type: 'HTTP' }), 'Root: integrations of type HTTP'],
  ['a MOCK that passes requests on', root({ Type: 'MOCK' }), 'Root: of MOCK, only'],
  ['IAM authorization', root(lambda('x'), { AuthorizationType: 'AWS_IAM' }), 'Root: Authorization'],
  ['a missing authorizer', root(lambda('x'), { AuthorizationType: 'CUSTOM' }), 'Root: there is no'],
  ['an authorizer of tokens', groups({ Type: 'TOKEN' }), 'Authorizer: authorizers of type TOKEN'],
  ['API keys', root(lambda('x'), { ApiKeyRequired: true }), 'Root: API keys'],
  ['any method', root(lambda('x'), { HttpMethod: 'ANY' }), 'Root: the method ANY'],
  ['a greedy parameter', { Group: resource('Resource', { PathPart: '{all+}' }) }, 'Group: greedy'],
  ['binary bodies', { Api: resource('RestApi', { BinaryMediaTypes: ['a/b'] }) }, 'Api: binary media'],
  [
    'template language',
    { G: gatewayResponse('THROTTLED', '429', { ResponseTemplates: { 'application/json': '#if(1)a#end' } }) },
    'G: a template uses #if',
  ],
  ['template language in a MOCK', root(mock("$input.params('x')")), 'Root: a template uses $input'],
  ['a second stage', { Stage2: stage({ StageName: 'test' }) }, 'One AWS::ApiGateway::Stage is needed'],
])('%s is refused when the template is read, by its name', async (_, more, message) => {
  await expect(start({ ...groups(), ...more })).rejects.toThrow(message);
});
