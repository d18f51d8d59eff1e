import { findResource } from '../../../local/gateway/request';
import { type Behaviour, gatewayResponse, groups, lambda, read, resource, root, start } from './support';

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
])('%s %s with %j is refused', async (httpMethod, path, headers, status, message) => {
  const { events, send } = await start(groups(), { groups: () => ({}) });
  const answer = await send(path, { method: httpMethod, headers });
  expect(answer).toMatchObject({ status, body: expect.stringContaining(message) });
  expect(events).toEqual([]);
});

it('renders the gateway response of a type, or else the default one; an unset variable is empty', async () => {
  const responses = {
    Route: problem('MISSING_AUTHENTICATION_TOKEN', '404'),
    Four: problem('DEFAULT_4XX', '418'),
    Five: problem('DEFAULT_5XX', '500'),
  };
  const { send } = await start({ ...groups(), ...responses });
  const { status, headers, json } = await send('/nowhere');
  expect([status, headers['content-type']]).toEqual([404, 'application/problem+json']);
  expect(json).toEqual({ code: 'MISSING_AUTHENTICATION_TOKEN', id: headers['x-amz-apigw-id'], no: '' });
  expect(await send('/%zz')).toMatchObject({ status: 418, json: { code: 'DEFAULT_4XX' } });
  expect(await send('/groups/a')).toMatchObject({ status: 500, json: { code: 'DEFAULT_5XX' } });
});

it('throttles each method by a token bucket with rate and burst', async () => {
  let now = 0;
  const limits = { ThrottlingRateLimit: 2, ThrottlingBurstLimit: 3 };
  const resources = { ...groups({}, { MethodSettings: [limits] }), ...root(lambda('groups')) };
  const { send } = await start(resources, { groups: () => ({}) }, () => now);
  const statuses = async (...paths: string[]) => {
    const found = [];
    for (const path of paths) found.push((await send(path)).status);
    return found;
  };
  const a = '/groups/a';
  expect(await statuses(a, a, a, a, '/')).toEqual([200, 200, 200, 429, 200]);
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
  const { send } = await start({ ...groups(), ...root(mock('{"a":1}')) });
  const ofType = (type: string) => send('/', { headers: { 'content-type': type } });
  for (const reply of [await send('/'), await ofType('Application/JSON; charset=utf-8')]) {
    expect(reply).toMatchObject({ status: 200, json: { a: 1 }, headers: { 'cache-control': 'no-store' } });
  }
  expect((await ofType('text/plain')).status).toBe(415);
});

it('accepts a body of 10 MB; a byte more is 413', async () => {
  const { events, send } = await start(groups(), { groups: ({ body }) => ({ body: String(body.length) }) });
  const limit = 10 * 1024 * 1024;
  expect((await send('/groups/a', { body: Buffer.alloc(limit, 'a') })).body).toBe(String(limit));
  expect((await send('/groups/a', { body: Buffer.alloc(limit + 1, 'a') })).status).toBe(413);
  expect(events).toHaveLength(1);
});

describe('routing', () => {
  const find = (path: string, ...paths: string[]) =>
    findResource({ methods: paths.map((each) => ({ path: each })) }, path);

  it.each([
    ['/groups/', '/groups'],
    ['/groups/all', '/groups/all'],
    ['/groups/a%2Fb', '/groups/{id}'],
    ['/groups//', '/groups'],
    ['/groups/a/b', undefined],
    ['/groups//b', undefined],
  ])('leads %s to %s', (path, expected) => {
    const { candidates } = find(path, '/', '/groups', '/groups/{id}', '/groups/all');
    expect(candidates[0]?.path).toBe(expected);
  });

  it('prefers a literal to a parameter, from the first segment on, and decodes parameters', () => {
    expect(find('/a/b', '/{p}/{q}', '/{p}/b', '/a/{p}').candidates[0]?.path).toBe('/a/{p}');
    expect(find('/groups/a%2Fb%20%C3%BC%ff', '/groups/{id}').pathParameters).toEqual({ id: 'a/b ü\uFFFD' });
  });
});

it('sends functions the event of a REST API, with null for what the request lacks', async () => {
  const resources = { ...groups(), ...root(lambda('groups')) };
  const { events, send } = await start(resources, { groups: () => ({}) });
  const path = '/groups/a%2Fb%20c/';
  const { headers } = await send(`/${path}?x=1&x=2;y=%C3%A4+=&__proto__=3`, {
    headers: { 'X-One': '1', 'x-two': ['a', 'b'] },
    body: '{"a":1}',
  });
  await send('/');
  expect(events).toMatchObject([
    {
      ...{ resource: '/groups/{id}', path, httpMethod: 'GET', pathParameters: { id: 'a/b c' } },
      headers: { 'X-One': '1', 'x-two': 'b' },
      multiValueHeaders: { 'X-One': ['1'], 'x-two': ['a', 'b'] },
      multiValueQueryStringParameters: { x: ['1', '2'], y: ['ä ='] },
      ...{ body: '{"a":1}', isBase64Encoded: false },
      requestContext: { extendedRequestId: headers['x-amz-apigw-id'] },
    },
    { ...{ resource: '/', pathParameters: null, body: null }, multiValueQueryStringParameters: null },
  ]);
  const query = Object.entries(events[0].queryStringParameters);
  expect(query).toEqual(Object.entries({ x: '2', y: 'ä =', ['__proto__']: '3' }));
});

describe("a function's result", () => {
  const replyTo = async (payload: unknown) =>
    (await start(groups(), { groups: () => payload })).send('/groups/a');

  it('determines status, headers, repeated headers and body', async () => {
    const reply = await replyTo({
      statusCode: '409',
      headers: { 'Content-Type': 'application/problem+json', 'X-Flag': true },
      multiValueHeaders: { 'Set-Cookie': ['a=1', 'b=2'] },
      body: '{"ü":1}',
    });
    const headers = { 'content-type': 'application/problem+json', 'x-flag': 'true' };
    expect(reply).toMatchObject({
      ...{ status: 409, body: '{"ü":1}' },
      headers: { ...headers, 'set-cookie': ['a=1', 'b=2'] },
    });
    const empty = { status: 200, headers: { 'content-type': 'application/json' }, body: '' };
    expect(await replyTo({})).toMatchObject(empty);
  });

  it.each([
    [null],
    [{ message: 'hello' }],
    [{ statusCode: 99 }],
    [{ body: { a: 1 } }],
    [{ headers: { a: { b: 1 } } }],
    [{ headers: { a: 'x\r\ny: z' } }],
  ])('%j is malformed: 502', async (payload) => {
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
  ])('states no reason when the function %s', async (_, functions, status) => {
    const { send } = await start(groups(), functions);
    expect(await send('/groups/a')).toMatchObject({ status, body: '{"message":"Internal server error"}' });
  });

  it("is too late after the integration's timeout: 504", async () => {
    const resources = { ...groups(), ...root(lambda('groups', { TimeoutInMillis: 50 })) };
    const { send } = await start(resources, { groups: () => new Promise(() => {}) });
    expect((await send('/')).status).toBe(504);
  });
});

describe('an authorizer', () => {
  async function run(authorizer: Behaviour, options: object = {}, clock?: () => number) {
    const functions = { authorizer, groups: () => ({}) };
    const { events, send } = await start(groups(options), functions, clock);
    return {
      decisions: () => events.filter(({ type }) => type === 'REQUEST'),
      deletions: () => events.filter(({ type }) => type === undefined),
      remove: (authorization?: string, path = '/groups/a') =>
        send(path, { method: 'DELETE', headers: authorization === undefined ? {} : { authorization } }),
    };
  }
  const allow: Behaviour = ({ methodArn }, context: object = {}) => ({
    principalId: 'us-1',
    policyDocument: {
      Statement: [{ Effect: 'Allow', Action: 'execute-api:Invoke', Resource: methodArn }],
    },
    context: { exp: 12, ...context },
  });

  it('allows a request, which gets its context as strings', async () => {
    const { decisions, deletions, remove } = await run(allow);
    expect((await remove('Bearer t')).status).toBe(200);
    expect(decisions()).toMatchObject([
      {
        methodArn: 'arn:aws:execute-api:eu-central-1:000000000000:Api/prod/DELETE/groups/a',
        headers: { authorization: 'Bearer t' },
      },
    ]);
    expect(decisions()[0]).not.toHaveProperty('body');
    expect(deletions()[0].requestContext.authorizer).toEqual({ principalId: 'us-1', exp: '12' });
  });

  it.each([undefined, ''])('is not called without an identity (%p): 401', async (token) => {
    const { decisions, remove } = await run(allow);
    expect(await remove(token)).toMatchObject({ status: 401, json: { message: 'Unauthorized' } });
    expect(decisions()).toEqual([]);
  });

  const throwing = (message: string) => () => {
    throw new Error(message);
  };
  const statement = (Effect: string) => ({ Effect, Action: '*', Resource: '*' });
  it.each<[what: string, Behaviour, status: number, message: RegExp]>([
    [
      'an explicit denial',
      () => ({ policyDocument: { Statement: [statement('Allow'), statement('Deny')] } }),
      ...([403, /with an explicit deny$/] as const),
    ],
    ['a policy for another method', () => allow({ methodArn: 'x' }), 403, /this resource$/],
    ['the error "Unauthorized"', throwing('Unauthorized'), 401, /^Unauthorized$/],
    ['another error', throwing('secret'), 500, /^Internal server error$/],
    ['no policy', () => ({ principalId: 'x' }), 500, /^Internal/],
    ['a nested context', (event) => ({ ...Object(allow(event)), context: { a: [1] } }), 500, /^Internal/],
  ])('refuses a request by %s', async (_, behaviour, status, message) => {
    const { remove, deletions } = await run(behaviour);
    expect(await remove('Bearer t')).toMatchObject({
      status,
      json: { message: expect.stringMatching(message) },
    });
    expect(deletions()).toEqual([]);
  });

  it('has a cache per identity for the time to live, applied to each method', async () => {
    let now = 1_000_000;
    const { decisions, remove } = await run(allow, {}, () => now);
    const expectStatus = async (expected: number, calls: number, ...request: [string, string?]) =>
      expect([(await remove(...request)).status, decisions().length]).toEqual([expected, calls]);
    await expectStatus(200, 1, 'Bearer a');
    now += 59_999;
    await expectStatus(200, 1, 'Bearer a');
    await expectStatus(403, 1, 'Bearer a', '/groups/b');
    await expectStatus(200, 2, 'Bearer b');
    now += 1;
    await expectStatus(200, 3, 'Bearer a');
  });

  it('has no cache for failures, or with a time to live of 0', async () => {
    let calls = 0;
    const fails = await run((event) => (++calls === 1 ? throwing('boom')() : allow(event)));
    expect((await fails.remove('Bearer a')).status).toBe(500);
    expect((await fails.remove('Bearer a')).status).toBe(200);
    const uncached = await run(allow, { AuthorizerResultTtlInSeconds: 0 });
    for (const _ of [1, 2]) await uncached.remove('Bearer a');
    expect(uncached.decisions()).toHaveLength(2);
  });
});

it.each<[message: string, change: object]>([
  ['Root: an integration of type HTTP', root({ Type: 'HTTP' })],
  ['Root: AuthorizationType CUSTOM', root(lambda('x'), { AuthorizationType: 'CUSTOM' })],
  ['Authorizer: an authorizer of type TOKEN', groups({ Type: 'TOKEN' })],
  ['Authorizer: the identity source context.x', groups({ IdentitySource: 'context.x' })],
  ['Root: the method ANY is', root(lambda('x'), { HttpMethod: 'ANY' })],
  ['Group: the path part {all+}', { Group: resource('Resource', { PathPart: '{all+}' }) }],
  ['G: the template #if(1)a#end is', { G: gatewayResponse('THROTTLED', '429', '#if(1)a#end') }],
  ['Root: the template $context.stage is', root(mock('$context.stage'))],
  ['Stage: MethodSettings', groups({}, { MethodSettings: [{}, { ResourcePath: '/~1' }] })],
])('refuses a template with %s', (message, change) => {
  expect(() => read({ ...groups(), ...change })).toThrow(message);
});
