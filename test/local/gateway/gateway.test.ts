import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  FakeFunction,
  gatewayResponse,
  get,
  groups,
  lambda,
  method,
  portOf,
  resource,
  send,
  sendRaw,
  stage,
  start,
  stopAll,
} from './support';

afterEach(stopAll);

const target = (payload: unknown = { statusCode: 200, body: '{}' }) =>
  new FakeFunction('groups', () => payload);
const root = (integration: object, more: object = {}) => ({
  Root: method('root', 'GET', integration, more),
});
const problems = {
  NoRoute: gatewayResponse('MISSING_AUTHENTICATION_TOKEN', '404'),
  Four: gatewayResponse('DEFAULT_4XX', '404'),
  Large: gatewayResponse('REQUEST_TOO_LARGE', '413'),
  Slow: gatewayResponse('THROTTLED', '429'),
};

test.each([
  ['GET', '/nowhere', {}, 'MissingAuthenticationToken'],
  ['PATCH', '/groups/a', {}, 'MissingAuthenticationToken'],
  ['GET', '/nowhere', { authorization: 'Bearer t' }, 'BadRequest'],
])('%s %s with %j has no route', async (httpMethod, path, sent, errorType) => {
  const { status, headers } = await send(await start(groups()), httpMethod, path, sent);
  expect([status, headers['x-amzn-errortype']]).toEqual([403, `${errorType}Exception`]);
});

test('a gateway response has its status, headers and template; an unset variable is empty', async () => {
  const { status, headers, json } = await send(await start({ ...groups(), ...problems }), 'GET', '/nowhere');
  expect([status, headers['content-type']]).toEqual([404, 'application/problem+json']);
  const code = 'MISSING_AUTHENTICATION_TOKEN';
  expect(json).toEqual({ code, requestId: headers['x-amz-apigw-id'], unset: '' });
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
    Stage: stage({ MethodSettings: [{ ResourcePath: '/*', HttpMethod: '*', ...limits }] }),
  };
  const gateway = await start(resources, [target()], { clock: () => now });
  const statuses = async (path: string, count: number) => {
    const answers = [];
    for (let i = 0; i < count; i += 1) answers.push((await send(gateway, 'GET', path)).status);
    return answers;
  };
  expect(await statuses('/groups/a', 5)).toEqual([200, 200, 200, 429, 429]);
  expect(await statuses('/', 1)).toEqual([200]);
  now += 500;
  expect(await statuses('/groups/a', 2)).toEqual([200, 429]);
});

const mock = (template: string, more: object = {}) => ({
  Type: 'MOCK',
  RequestTemplates: { 'application/json': '{"statusCode": 200}' },
  PassthroughBehavior: 'NEVER',
  IntegrationResponses: [
    {
      StatusCode: '200',
      ResponseParameters: { 'method.response.header.Cache-Control': "'no-store'" },
      ResponseTemplates: { 'application/json': template },
    },
  ],
  ...more,
});

test('a MOCK integration answers from its template, to requests for JSON alone', async () => {
  const gateway = await start({ ...groups(), ...root(mock('{"stage":"$context.stage"}')) });
  const { status, headers, json } = await send(gateway, 'GET', '/');
  expect({ status, json }).toEqual({ status: 200, json: { stage: 'prod' } });
  expect(headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'application/json' });
  for (const type of ['text/plain', '__proto__']) {
    expect((await send(gateway, 'GET', '/', { 'content-type': type })).status).toBe(415);
  }
});

test('a body of 10 MB passes, a byte more is 413, with and without a stated length', async () => {
  const echo = new FakeFunction('groups', (event) => ({ statusCode: 200, body: String(event.body.length) }));
  const gateway = await start({ ...groups(), ...problems }, [echo]);
  const limit = 10 * 1024 * 1024;
  expect((await send(gateway, 'GET', '/groups/a', {}, Buffer.alloc(limit, 'a'))).body).toBe(String(limit));
  for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
    expect(await send(gateway, 'GET', '/groups/a', headers, Buffer.alloc(limit + 1, 'a'))).toMatchObject({
      status: 413,
      json: { code: 'REQUEST_TOO_LARGE' },
    });
  }
  expect(echo.events).toHaveLength(1);
});

test.each([
  ['another host', 'GET /groups/a HTTP/1.1\r\nHost: page.example\r\nConnection: close\r\n\r\n', 403],
  ['no host', 'GET /groups/a HTTP/1.0\r\n\r\n', 403],
  ['two hosts', 'GET /groups/a HTTP/1.1\r\nHost: OWN\r\nHost: OWN\r\nConnection: close\r\n\r\n', 403],
  ['a broken percent sign', 'GET /groups/%zz HTTP/1.1\r\nHost: OWN\r\nConnection: close\r\n\r\n', 400],
  ['no HTTP', 'hello\r\n\r\n', 400],
  [
    'another name of this machine',
    'GET /groups/a HTTP/1.1\r\nHost: LOCALHOST:PORT\r\nConnection: close\r\n\r\n',
    200,
  ],
])('%s gets a response', async (_, text, status) => {
  const gateway = await start(groups(), [target()]);
  const own = new URL(gateway.url).host;
  const received = await sendRaw(gateway, text.replaceAll('OWN', own).replace('PORT', `${portOf(gateway)}`));
  expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(await get(gateway)).toMatchObject({ status: 200 });
});

test('a client that disconnects does not disturb the next one', async () => {
  const slow = new FakeFunction('groups', () => sleep(50).then(() => ({ statusCode: 200 })));
  const gateway = await start(groups(), [slow]);
  const socket = connect(portOf(gateway), '127.0.0.1');
  socket.write(`GET /groups/a HTTP/1.1\r\nHost: ${new URL(gateway.url).host}\r\n\r\n`);
  while (slow.events.length === 0) await sleep(5);
  socket.destroy();
  expect((await send(gateway, 'GET', '/groups/b')).status).toBe(200);
});

test('close() lets running requests end, for a second at most', async () => {
  const slow = new FakeFunction('groups', (event) =>
    event.pathParameters.id === 'long' ? new Promise(() => {}) : sleep(100).then(() => ({ statusCode: 200 })),
  );
  const gateway = await start(groups(), [slow]);
  const short = send(gateway, 'GET', '/groups/short');
  const long = send(gateway, 'GET', '/groups/long').catch((error: Error) => error);
  while (slow.events.length < 2) await sleep(5);
  await gateway.close();
  expect((await short).status).toBe(200);
  expect(await long).toHaveProperty('code', 'ECONNRESET');
  await expect(get(gateway)).rejects.toThrow('ECONNREFUSED');
});

/** What the gateway makes of a function's result. */
const replyTo = async (payload: unknown) => get(await start(groups(), [target(payload)]));

test('a response passes with status, headers, repeated headers and body', async () => {
  const { status, headers, body } = await replyTo({
    statusCode: '409',
    headers: { 'Content-Type': 'application/problem+json', 'X-Flag': true },
    multiValueHeaders: { 'Set-Cookie': ['a=1', 'b=2'] },
    body: '{"ü":1}',
  });
  expect({ status, body }).toEqual({ status: 409, body: '{"ü":1}' });
  expect(headers).toMatchObject({
    'content-type': 'application/problem+json',
    'x-flag': 'true',
    'set-cookie': ['a=1', 'b=2'],
  });
});

test('an empty object is 200, application/json, without a body', async () => {
  const { status, headers, body } = await replyTo({});
  expect([status, headers['content-type'], body]).toEqual([200, 'application/json', '']);
});

test.each([
  ['null', null],
  ['a text', 'hello'],
  ['an unknown field', { statusCode: 200, message: 'hello' }],
  ['a status that is no number', { statusCode: 'fine' }],
  ['a status that is none', { statusCode: 99 }],
  ['a body that is no text', { statusCode: 200, body: { a: 1 } }],
  ['a header that is no text', { statusCode: 200, headers: { a: { b: 1 } } }],
  ['a header that HTTP does not allow', { statusCode: 200, headers: { a: 'x\r\ny: z' } }],
  ['a header name that HTTP does not allow', { statusCode: 200, headers: { 'a b': 'x' } }],
])('a malformed response (%s) is 502', async (_, payload) => {
  const { status, json, headers } = await replyTo(payload);
  expect({ status, json }).toEqual({ status: 502, json: { message: 'Internal server error' } });
  expect(headers['x-amzn-errortype']).toBe('InternalServerErrorException');
});

const failing = (name: string) =>
  new FakeFunction('groups', () => {
    throw Object.assign(new Error('secret'), { name });
  });

test.each([
  ['fails', [failing('Error')], 502],
  ['is throttled', [failing('TooManyRequestsException')], 500],
  ['may not be invoked', [failing('AccessDeniedException')], 500],
  ['is not there', [], 500],
])('a function that %s is an error without its reason', async (_, functions, status) => {
  const answer = await get(await start(groups(), functions));
  expect(answer).toMatchObject({ status, body: '{"message":"Internal server error"}' });
  const configured = { ...groups(), Five: gatewayResponse('DEFAULT_5XX', '500') };
  expect((await get(await start(configured, functions))).json.code).toBe('DEFAULT_5XX');
});

test('a function that takes longer than its integration allows is 504', async () => {
  const slow = new FakeFunction('groups', () => new Promise(() => {}));
  const resources = { ...groups(), ...root(lambda('groups', { TimeoutInMillis: 50 })) };
  const { status, json } = await send(await start(resources, [slow]), 'GET', '/');
  expect({ status, json }).toEqual({ status: 504, json: { message: 'Endpoint request timed out' } });
});

const template = (text: string) => ({ ResponseTemplates: { 'application/json': text } });

test.each([
  ['an integration of another type', root({ Type: 'HTTP' }), 'Root: an integration of type HTTP'],
  [
    'a MOCK that passes requests on',
    root(mock('', { PassthroughBehavior: 'WHEN_NO_MATCH' })),
    'Root: MOCK other',
  ],
  [
    'IAM authorization',
    root(lambda('x'), { AuthorizationType: 'AWS_IAM' }),
    'Root: AuthorizationType AWS_IAM',
  ],
  [
    'a missing authorizer',
    root(lambda('x'), { AuthorizationType: 'CUSTOM' }),
    'Root: AuthorizationType CUSTOM',
  ],
  ['an authorizer of tokens', groups({ Type: 'TOKEN' }), 'Authorizer: an authorizer of type TOKEN'],
  ['another identity', groups({ IdentitySource: 'context.x' }), 'Authorizer: the identity source context.x'],
  ['API keys', root(lambda('x'), { ApiKeyRequired: true }), 'Root: ApiKeyRequired'],
  ['any method', root(lambda('x'), { HttpMethod: 'ANY' }), 'Root: the method ANY'],
  [
    'a greedy parameter',
    { Group: resource('Resource', { PathPart: '{all+}' }) },
    'Group: a greedy parameter',
  ],
  ['binary bodies', { Api: resource('RestApi', { BinaryMediaTypes: ['a/b'] }) }, 'Api: BinaryMediaTypes'],
  ['template language', { G: gatewayResponse('THROTTLED', '429', template('#if(1)a#end')) }, 'G: #if'],
  ['another variable', root(mock("$input.params('x')")), "Root: $input.params('x') in a template"],
  [
    'limits of one method',
    { Stage: stage({ MethodSettings: [{ ResourcePath: '/~1', HttpMethod: 'GET' }] }) },
    'Stage: MethodSettings of a single method',
  ],
  ['a second stage', { Stage2: stage({ StageName: 'test' }) }, 'Api: one stage is needed.'],
])('%s is refused when the template is read, by its name', async (_, more, message) => {
  await expect(start({ ...groups(), ...more })).rejects.toThrow(message);
});
