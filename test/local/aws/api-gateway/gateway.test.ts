import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { readApi } from '../../../../local/aws/api-gateway/api';
import { type Gateway, openApis, openGateway } from '../../../../local/aws/api-gateway/gateway';
import { failed } from '../../../../local/aws/lambda/instance';
import { Cleanup } from '../../../../local/cleanup';
import { eventually } from '../../../support/eventually';

// biome-ignore lint/suspicious/noExplicitAny: tests read single fields of events and bodies
type Json = any;
/** A thrown error is a failed invocation. */
type Behaviour = (event: Json) => unknown;

const resource = (type: string, properties: object) => ({
  Type: `AWS::ApiGateway::${type}`,
  Properties: { RestApiId: 'Api', ...properties },
});
const lambda = (name: string) => ({
  Type: 'AWS_PROXY',
  Uri: `arn:aws:apigateway:eu-central-1:lambda:path/2015-03-31/functions/arn:aws:lambda:eu-central-1:000000000000:function:${name}/invocations`,
});
/** `GET /` */
const root = (Integration: object, more: object = {}) => ({
  Root: resource('Method', {
    ...{ ResourceId: 'root', HttpMethod: 'GET', Integration, AuthorizationType: 'NONE' },
    ...more,
  }),
});
const gatewayResponse = (ResponseType: string, StatusCode: string, body: string) =>
  resource('GatewayResponse', {
    ...{ ResponseType, StatusCode },
    ResponseParameters: { 'gatewayresponse.header.Content-Type': "'application/problem+json'" },
    ResponseTemplates: { 'application/json': body },
  });
const authorizer = (more: object = {}) => ({
  Authorizer: resource('Authorizer', {
    Type: 'REQUEST',
    IdentitySource: 'method.request.header.Authorization',
    AuthorizerUri: lambda('authorizer').Uri,
    AuthorizerResultTtlInSeconds: 60,
    ...more,
  }),
});
const stage = (more: object = {}) => ({ Stage: resource('Stage', { StageName: 'prod', ...more }) });

/** `/groups/{id}` with a DELETE behind an authorizer and an open GET, both for the function `groups`. */
const method = { ResourceId: 'Group', Integration: lambda('groups'), AuthorizationType: 'NONE' };
const custom = { AuthorizationType: 'CUSTOM', AuthorizerId: 'Authorizer' };
const groups = {
  Groups: resource('Resource', { ParentId: 'root', PathPart: 'groups' }),
  Group: resource('Resource', { ParentId: 'Groups', PathPart: '{id}' }),
  Get: resource('Method', { ...method, HttpMethod: 'GET' }),
  Delete: resource('Method', { ...method, HttpMethod: 'DELETE', ...custom }),
  ...authorizer(),
  ...stage(),
};

/** Reads the API with logical ids as physical ids. */
function read(changes: object) {
  const resources = { Api: resource('RestApi', {}), ...groups, ...changes };
  const deployed = Object.entries(resources).map(([logicalId, { Type: type, Properties: properties }]) => {
    return [logicalId, { logicalId, type, properties, ref: logicalId, attributes: {} }] as const;
  });
  return readApi(new Map(deployed), 'Api');
}

const running: Gateway[] = [];
afterEach(() => Promise.all(running.splice(0).map((gateway) => gateway.close())));

interface Options {
  /** To the API above. */
  readonly changes?: object;
  readonly functions?: Readonly<Record<string, Behaviour>> | undefined;
  readonly clock?: (() => number) | undefined;
}

/** A gateway for one test. `events` records its functions' events. */
async function start({ changes = {}, functions = { groups: () => ({}) }, clock = Date.now }: Options = {}) {
  const gateway = await openGateway(0);
  running.push(gateway);
  const events: Json[] = [];
  gateway.serve({
    api: read(changes),
    findFunction: (arn) => {
      const run = functions[arn.split(':').at(-1) ?? ''];
      if (!run) throw new Error(`no function ${arn}`);
      return {
        async invoke(event) {
          const copy = JSON.parse(JSON.stringify(event));
          events.push(copy);
          try {
            return { ok: true, payload: await run(copy) };
          } catch (error) {
            return failed((error as Error).name, (error as Error).message);
          }
        },
      };
    },
    region: 'eu-central-1',
    clock,
  });
  /** Sends the path unchanged; `fetch` would normalize it. */
  async function send(
    path: string,
    headers: Record<string, string | string[]> = {},
    body = '',
    verb = 'GET',
  ) {
    const all = { 'content-length': String(Buffer.byteLength(body)), ...headers };
    const sent = request(gateway.url, { path, method: verb, headers: all, agent: false }).end(body);
    const [incoming] = (await once(sent, 'response')) as [IncomingMessage];
    const received = await text(incoming);
    const json: Json = received.startsWith('{') ? JSON.parse(received) : undefined;
    return { status: incoming.statusCode, headers: incoming.headers, body: received, json };
  }
  return { events, send };
}

it.each([
  ['GET', '/nowhere', {}, 403, 'Missing Authentication Token'],
  ['GET', '/nowhere', { authorization: 'Bearer t' }, 403, 'Invalid key=value pair'],
  ['GET', '/groups/%zz', {}, 400, 'Bad Request'],
  ['GET', '/groups/a', { host: 'page.example' }, 403, 'Forbidden'],
])('%s %s with %j is refused', async (verb, path, headers, status, message) => {
  const { events, send } = await start();
  const answer = await send(path, headers, '', verb);
  expect(answer).toMatchObject({ status, body: expect.stringContaining(message) });
  expect(events).toEqual([]);
});

it("throttles each method by a token bucket with rate and burst, its own or the stage's", async () => {
  let now = 0;
  const all = { HttpMethod: '*', ResourcePath: '/*', ThrottlingRateLimit: 20, ThrottlingBurstLimit: 30 };
  const one = { HttpMethod: 'GET', ResourcePath: '/groups~1{id}' };
  const MethodSettings = [{ ...one, ThrottlingRateLimit: 2, ThrottlingBurstLimit: 3 }, all];
  const changes = { ...stage({ MethodSettings }), ...root(lambda('groups')) };
  const { send } = await start({ changes, clock: () => now });
  const expectStatuses = async (path: string, ...statuses: number[]) => {
    for (const status of statuses) expect((await send(path)).status).toBe(status);
  };
  await expectStatuses('/groups/a', 200, 200, 200, 429);
  await expectStatuses('/', 200, 200, 200, 200);
  now += 500;
  await expectStatuses('/groups/a', 200, 429);
});

it('sends functions the event of a REST API, with null for what the request lacks', async () => {
  const { events, send } = await start({ changes: root(lambda('groups')) });
  const path = '/groups/a%2Fb%20c/';
  const sent = { 'X-One': '1', 'x-two': ['a', 'b'] };
  const { headers } = await send(`/${path}?x=1&x=2;y=%C3%A4+=&__proto__=3`, sent, '{"a":1}');
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

it.each([[null], [{ message: 'hello' }], [{ headers: { a: 'x\r\ny: z' } }]])(
  'a function result %j is malformed: 502',
  async (payload) => {
    const { send } = await start({ functions: { groups: () => payload } });
    expect(await send('/groups/a')).toMatchObject({
      status: 502,
      json: { message: 'Internal server error' },
    });
  },
);

it('refuses a function result in base64, by name', async () => {
  const { send } = await start({ functions: { groups: () => ({ body: 'YQ==', isBase64Encoded: true }) } });
  const message = 'isBase64Encoded is not supported on this machine';
  expect(await send('/groups/a')).toMatchObject({ status: 502, json: { message } });
});

const throwing =
  (message: string, name = 'Error'): Behaviour =>
  () => {
    throw Object.assign(new Error(message), { name });
  };

it.each<[string, Options['functions'], number]>([
  ['fails', { groups: throwing('secret') }, 502],
  ['may not be invoked', { groups: throwing('secret', 'AccessDeniedException') }, 500],
  ['does not exist', {}, 500],
])('states no reason when the function %s', async (_, functions, status) => {
  const { send } = await start({ functions });
  expect(await send('/groups/a')).toMatchObject({ status, body: '{"message":"Internal server error"}' });
});

it("a function is too late after the integration's timeout: 504", async () => {
  const changes = root({ ...lambda('groups'), TimeoutInMillis: 50 });
  const { send } = await start({ changes, functions: { groups: () => new Promise(() => {}) } });
  expect((await send('/')).status).toBe(504);
});

it('closes a second after it is asked to, even if a request never ends', async () => {
  let end: (result: object) => void = () => undefined;
  const groups = () => new Promise<object>((resolve) => (end = resolve));
  const { events, send } = await start({ functions: { groups } });
  const sent = send('/groups/a').catch(({ message }: Error) => message);
  await eventually(() => events.length === 1);
  await running[0]?.close();
  expect(await sent).toBe('socket hang up');
  end({});
});

describe('an authorizer', () => {
  async function run(authorizer: Behaviour, clock?: () => number) {
    const { events, send } = await start({ functions: { authorizer, groups: () => ({}) }, clock });
    return {
      decisions: () => events.filter(({ type }) => type === 'REQUEST'),
      deletions: () => events.filter(({ type }) => type === undefined),
      remove: (authorization: string, path = '/groups/a') => send(path, { authorization }, '', 'DELETE'),
    };
  }
  const statement = (Effect: string, Resource = '*') => ({ Effect, Action: 'execute-api:Invoke', Resource });
  const allow: Behaviour = ({ methodArn }) => ({
    principalId: 'us-1',
    policyDocument: { Statement: [statement('Allow', methodArn)] },
    context: { exp: 12 },
  });

  it('is not called without an identity: 401', async () => {
    const { decisions, remove } = await run(allow);
    expect(await remove('')).toMatchObject({ status: 401, json: { message: 'Unauthorized' } });
    expect(decisions()).toEqual([]);
  });

  const denial = { policyDocument: { Statement: [statement('Allow'), statement('Deny')] } };
  it.each<[what: string, Behaviour, status: number, message: RegExp]>([
    ['an explicit denial', () => denial, 403, /with an explicit deny$/],
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

  it('has a cache per identity for the time to live, applied to each method; a failure is not cached', async () => {
    let now = 1_000_000;
    let isFailing = true;
    const authorizer: Behaviour = (event) => (isFailing ? throwing('boom')(event) : allow(event));
    const { decisions, remove } = await run(authorizer, () => now);
    const expectStatus = async (expected: number, calls: number, ...request: [string, string?]) =>
      expect([(await remove(...request)).status, decisions().length]).toEqual([expected, calls]);
    await expectStatus(500, 1, 'Bearer a');
    isFailing = false;
    await expectStatus(200, 2, 'Bearer a');
    now += 59_999;
    await expectStatus(200, 2, 'Bearer a');
    await expectStatus(403, 2, 'Bearer a', '/groups/b');
    await expectStatus(200, 3, 'Bearer b');
    now += 1;
    await expectStatus(200, 4, 'Bearer a');
  });
});

const mocked = { StatusCode: '200', ResponseTemplates: { 'application/json': '$context.stage' } };
it.each<[message: string, changes: object]>([
  ['Root: an integration of type HTTP', root({ Type: 'HTTP' })],
  ['Root: AuthorizationType CUSTOM', root(lambda('x'), { AuthorizationType: 'CUSTOM' })],
  ['Authorizer: an authorizer of type TOKEN', authorizer({ Type: 'TOKEN' })],
  ['Authorizer: the identity source context.x', authorizer({ IdentitySource: 'context.x' })],
  ['Root: the method ANY is', root(lambda('x'), { HttpMethod: 'ANY' })],
  ['Group: the path part {all+}', { Group: resource('Resource', { PathPart: '{all+}' }) }],
  ['G: the template #if(1)a#end is', { G: gatewayResponse('THROTTLED', '429', '#if(1)a#end') }],
  ['Root: the template $context.stage is', root({ Type: 'MOCK', IntegrationResponses: [mocked] })],
])('refuses a template with %s', (message, changes) => {
  expect(() => read(changes)).toThrow(message);
});

it("replaces each API's AWS addresses by those on this machine, and delays requests until it is ready", async () => {
  const ofFirst = { RestApiId: { Ref: 'FirstApi' } };
  const ofSecond = { RestApiId: { Ref: 'SecondApi' } };
  const Resources = {
    FirstApi: resource('RestApi', {}),
    FirstStage: resource('Stage', { ...ofFirst, StageName: 'first' }),
    SecondApi: resource('RestApi', {}),
    SecondStage: resource('Stage', { ...ofSecond, StageName: 'second' }),
    Domain: resource('DomainName', { DomainName: 'second.example.com' }),
    Mapping: resource('BasePathMapping', { ...ofSecond, DomainName: { Ref: 'Domain' } }),
  };
  const stack = { name: 'WalletEu', region: 'eu-central-1', template: { Resources } };
  const cleanup = new Cleanup();
  const { gateways, urls, localize } = await openApis(stack, () => 0, cleanup);
  const { first, second } = urls;
  expect(first).not.toBe(second);
  const host = (id: string) => `https://WalletEu-${id}.execute-api.eu-central-1.amazonaws.com`;
  const others = ['https://api.example.com/first', 1, null];
  expect(localize([`${host('FirstApi')}/first/x`, `connect ${host('SecondApi')};`, ...others])).toEqual([
    ...[`${first}/x`, `connect ${second};`],
    ...others,
  ]);
  expect(localize('https://second.example.com/x')).toBe(`${second}/x`);

  const early = fetch(`${first}/`);
  const findFunction = () => ({ invoke: () => Promise.reject() });
  gateways.get('FirstApi')?.serve({ api: read({}), findFunction, region: stack.region });
  expect((await early).status).toBe(403);
  await cleanup.run();
});
