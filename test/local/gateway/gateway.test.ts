import { gatewayResponse, groups, lambda, method, read, resource, stage, start } from './support';

const root = (integration: object, more: object = {}) => ({
  Root: method('root', 'GET', integration, more),
});
const problem = (type: string, status: string) =>
  gatewayResponse(
    type,
    status,
    `{"code":"${type}","id":"$context.extendedRequestId","no":"$context.authorizer.no"}`,
  );

it.each([
  ['GET', '/nowhere', {}, 403, 'Missing Authentication Token'],
  ['PATCH', '/groups/a', {}, 403, 'Missing Authentication Token'],
  ['GET', '/nowhere', { authorization: 'Bearer t' }, 403, 'Invalid key=value pair'],
  ['GET', '/groups/%zz', {}, 400, 'Bad Request'],
  ['GET', '/groups/a', { host: 'page.example' }, 403, 'Forbidden'],
  ['GET', '/groups/a', { host: [] }, 400, ''],
])('%s %s with %j is refused', async (httpMethod, path, headers, status, message) => {
  const { events, send } = await start(groups(), { groups: () => ({}) });
  const answer = await send(path, { method: httpMethod, headers });
  expect(answer).toMatchObject({ status, body: expect.stringContaining(message) });
  expect(events).toEqual([]);
});

it('accepts the alternative header name, but not both', async () => {
  const { host, send } = await start(groups(), { groups: () => ({}) });
  const statusOf = async (named: string | string[]) =>
    (await send('/groups/a', { headers: { host: named } })).status;
  expect(await statusOf(host.replace('127.0.0.1', 'LOCALHOST'))).toBe(200);
  expect(await statusOf([host, host])).toBe(403);
});

it('renders a gateway response with status, headers and template; an unset variable is empty', async () => {
  const { send } = await start({ ...groups(), P: problem('MISSING_AUTHENTICATION_TOKEN', '404') });
  const { status, headers, json } = await send('/nowhere');
  expect([status, headers['content-type']]).toEqual([404, 'application/problem+json']);
  expect(json).toEqual({ code: 'MISSING_AUTHENTICATION_TOKEN', id: headers['x-amz-apigw-id'], no: '' });
});

it('renders DEFAULT_4XX and DEFAULT_5XX for types without a gateway response', async () => {
  const defaults = { Four: problem('DEFAULT_4XX', '404'), Five: problem('DEFAULT_5XX', '500') };
  const { send } = await start({ ...groups(), ...defaults });
  expect(await send('/nowhere')).toMatchObject({ status: 404, json: { code: 'DEFAULT_4XX' } });
  expect(await send('/groups/a')).toMatchObject({ status: 500, json: { code: 'DEFAULT_5XX' } });
});

it('throttles each method by a token bucket with rate and burst', async () => {
  let now = 0;
  const limits = { ThrottlingRateLimit: 2, ThrottlingBurstLimit: 3 };
  const Stage = stage({ MethodSettings: [{ ResourcePath: '/*', HttpMethod: '*', ...limits }] });
  const resources = { ...groups(), ...root(lambda('groups')), Stage };
  const { send } = await start(resources, { groups: () => ({}) }, () => now);
  const statuses = async (...paths: string[]) => {
    const found = [];
    for (const path of paths) found.push((await send(path)).status);
    return found;
  };
  const a = '/groups/a';
  expect(await statuses(a, a, a, a, a, '/')).toEqual([200, 200, 200, 429, 429, 200]);
  now += 500;
  expect(await statuses(a, a)).toEqual([200, 429]);
});

const mock = (template: string) => ({
  Type: 'MOCK',
  IntegrationResponses: [
    {
      StatusCode: '200',
      ResponseParameters: { 'method.response.header.Cache-Control': "'no-store'" },
      ResponseTemplates: { 'application/json': template },
    },
  ],
});

it('responds from a MOCK template, to requests for JSON only', async () => {
  const { send } = await start({ ...groups(), ...root(mock('{"stage":"$context.stage"}')) });
  const ofType = (type: string) => send('/', { headers: { 'content-type': type } });
  for (const { status, headers, json } of [
    await send('/'),
    await ofType('Application/JSON; charset=utf-8'),
  ]) {
    expect({ status, json }).toEqual({ status: 200, json: { stage: 'prod' } });
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'application/json' });
  }
  for (const type of ['text/plain', '__proto__']) expect((await ofType(type)).status).toBe(415);
});

it('accepts a body of 10 MB; a byte more is 413, with or without Content-Length', async () => {
  const { events, send } = await start(groups(), { groups: ({ body }) => ({ body: String(body.length) }) });
  const limit = 10 * 1024 * 1024;
  expect((await send('/groups/a', { body: Buffer.alloc(limit, 'a') })).body).toBe(String(limit));
  const body = Buffer.alloc(limit + 1, 'a');
  expect((await send('/groups/a', { body })).status).toBe(413);
  const chunked = { 'transfer-encoding': 'chunked', 'content-length': [] };
  expect((await send('/groups/a', { body, headers: chunked })).status).toBe(413);
  expect(events).toHaveLength(1);
});

/** The gateway's response for a function's result. */
const replyTo = async (payload: unknown) =>
  (await start(groups(), { groups: () => payload })).send('/groups/a');

it('passes on status, headers, repeated headers and body', async () => {
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
  const empty = { status: 200, headers: { 'content-type': 'application/json' }, body: '' };
  expect(await replyTo({})).toMatchObject(empty);
});

it.each([
  [null],
  ['hello'],
  [{ message: 'hello' }],
  [{ statusCode: 'fine' }],
  [{ statusCode: 99 }],
  [{ body: { a: 1 } }],
  [{ headers: { a: { b: 1 } } }],
  [{ headers: { a: 'x\r\ny: z' } }],
  [{ headers: { 'a b': 'x' } }],
])('returns 502 for the malformed result %j', async (payload) => {
  expect(await replyTo(payload)).toMatchObject({ status: 502, json: { message: 'Internal server error' } });
});

const failing = (name: string) => ({
  groups: () => {
    throw Object.assign(new Error('secret'), { name });
  },
});

it.each([
  ['fails', failing('Error'), 502],
  ['may not be invoked', failing('AccessDeniedException'), 500],
  ['does not exist', {}, 500],
])('states no reason when a function %s', async (_, functions, status) => {
  const { send } = await start(groups(), functions);
  expect(await send('/groups/a')).toMatchObject({ status, body: '{"message":"Internal server error"}' });
});

it("returns 504 after the integration's timeout", async () => {
  const resources = { ...groups(), ...root(lambda('groups', { TimeoutInMillis: 50 })) };
  const { send } = await start(resources, { groups: () => new Promise(() => {}) });
  expect(await send('/')).toMatchObject({ status: 504, json: { message: 'Endpoint request timed out' } });
});

it.each<[message: string, change: object]>([
  ['Root: an integration of type HTTP', root({ Type: 'HTTP' })],
  ['Root: AuthorizationType CUSTOM', root(lambda('x'), { AuthorizationType: 'CUSTOM' })],
  ['Root: AuthorizationType AWS_IAM', root(lambda('x'), { AuthorizationType: 'AWS_IAM' })],
  ['Authorizer: an authorizer of type TOKEN', groups({ Type: 'TOKEN' })],
  ['Authorizer: the identity source context.x', groups({ IdentitySource: 'context.x' })],
  ['Root: the method ANY is', root(lambda('x'), { HttpMethod: 'ANY' })],
  ['Group: the path part {all+}', { Group: resource('Resource', { PathPart: '{all+}' }) }],
  ['G: the template #if(1)a#end is', { G: gatewayResponse('THROTTLED', '429', '#if(1)a#end') }],
  ["Root: the template $input.params('x') is", root(mock("$input.params('x')"))],
  ['Stage: MethodSettings', { Stage: stage({ MethodSettings: [{}, { ResourcePath: '/~1' }] }) }],
])('refuses a template with %s', (message, change) => {
  expect(() => read({ ...groups(), ...change })).toThrow(message);
});
