import { readApi } from '../../../../local/aws/api-gateway/api';
import { type Gateway, openApis, openGateway } from '../../../../local/aws/api-gateway/gateway';
import { failed } from '../../../../local/aws/lambda/instance';
import { Cleanup } from '../../../../local/shared/cleanup';
import { exchange, type WireRequest } from '../../../support/api';
import type { Json } from '../../../support/stacks';

/** A returned error is a failed invocation. */
type Behaviour = (event: Json) => unknown;

const resource = (type: string, properties: object) => ({
  Type: `AWS::ApiGateway::${type}`,
  Properties: { RestApiId: 'Api', ...properties },
});
const lambda = (name: string) => ({
  Type: 'AWS_PROXY',
  Uri: `arn:aws:apigateway:eu-central-1:lambda:path/2015-03-31/functions/arn:function:${name}/invocations`,
});
const open = { HttpMethod: 'GET', AuthorizationType: 'NONE' };
const method = { ResourceId: 'Group', Integration: lambda('groups') };
const custom = { HttpMethod: 'DELETE', AuthorizationType: 'CUSTOM', AuthorizerId: 'Authorizer' };
/** `GET /`, and `/groups/{id}` with a DELETE behind an authorizer and an open GET, all for the function `groups`. */
const resources = {
  Api: resource('RestApi', {}),
  Root: resource('Method', { ...method, ...open, ResourceId: 'root' }),
  Groups: resource('Resource', { ParentId: 'root', PathPart: 'groups' }),
  Group: resource('Resource', { ParentId: 'Groups', PathPart: '{id}' }),
  Get: resource('Method', { ...method, ...open }),
  Delete: resource('Method', { ...method, ...custom }),
  Authorizer: resource('Authorizer', {
    Type: 'REQUEST',
    IdentitySource: 'method.request.header.Authorization',
    AuthorizerUri: lambda('authorizer').Uri,
    AuthorizerResultTtlInSeconds: 60,
  }),
  Stage: resource('Stage', { StageName: 'prod' }),
};
/** Other properties of some resources. */
type Changes = Partial<Record<keyof typeof resources, object>>;

/** Reads the API with logical ids as physical ids. */
function read(changes: Changes) {
  const deployed = Object.entries(resources).map(([logicalId, { Type: type, Properties }]) => {
    const properties = { ...Properties, ...changes[logicalId as keyof Changes] };
    return [logicalId, { logicalId, type, properties, ref: logicalId, attributes: {} }] as const;
  });
  return readApi(new Map(deployed), 'Api');
}

let gateway: Gateway;
afterEach(() => gateway.close());

/** A gateway for one test, with changes to the API above. `events` records its functions' events. */
async function start(
  functions: Readonly<Record<string, Behaviour>> = { groups: () => ({}) },
  { changes = {} as Changes, clock = Date.now } = {},
) {
  gateway = await openGateway(0);
  const events: Json[] = [];
  const findFunction = (arn: string) => ({
    async invoke(event: object) {
      events.push(JSON.parse(JSON.stringify(event)));
      const payload = await functions[arn.split(':').at(-1) ?? '']?.(event);
      if (payload instanceof Error) return failed(payload.name, payload.message);
      return { ok: true, payload } as const;
    },
  });
  gateway.serve({ api: read(changes), findFunction, region: 'eu-central-1', clock });
  const send = (path: string, headers: WireRequest['headers'] = [], more: Partial<WireRequest> = {}) =>
    exchange(gateway.url, { method: 'GET', path, headers, ...more });
  return { events, send };
}

it.each<[path: string, headers: [string, string][], status: number, message: string]>([
  ['/nowhere', [], 403, 'Missing Authentication Token'],
  ['/groups/%zz', [], 400, 'Bad Request'],
  ['/groups/a', [['host', 'page.example']], 403, 'Forbidden'],
])('GET %s with %j is refused', async (path, headers, status, message) => {
  const { events, send } = await start();
  expect(await send(path, headers)).toMatchObject({ status, text: expect.stringContaining(message) });
  expect(events).toEqual([]);
});

it("throttles each method by a token bucket with rate and burst, its own or the stage's", async () => {
  let now = 0;
  const all = { HttpMethod: '*', ResourcePath: '/*', ThrottlingRateLimit: 20, ThrottlingBurstLimit: 30 };
  const one = { HttpMethod: 'GET', ResourcePath: '/~1groups~1{id}' };
  const MethodSettings = [{ ...one, ThrottlingRateLimit: 2, ThrottlingBurstLimit: 3 }, all];
  const { send } = await start(undefined, { changes: { Stage: { MethodSettings } }, clock: () => now });
  async function expectStatuses(path: string, ...statuses: number[]) {
    for (const status of statuses) expect((await send(path)).status).toBe(status);
  }
  await expectStatuses('/groups/a', 200, 200, 200, 429);
  await expectStatuses('/', 200, 200, 200, 200);
  now += 500;
  await expectStatuses('/groups/a', 200, 429);
  now += 60_000;
  await expectStatuses('/groups/a', 200, 200, 200, 429);
});

it('sends functions the event of a REST API, with null for what the request lacks', async () => {
  const { events, send } = await start();
  const path = '/groups/a%2Fb%20c/';
  const query = '?x=1&x=2;y=%C3%A4+=&__proto__=3';
  const twice = ['a', 'b'].map((value) => ['x-two', value] as const);
  const { headers } = await send(`/${path}${query}`, [['X-One', '1'], ...twice], { body: '{"a":1}' });
  await send('/');
  expect(events).toMatchObject([
    {
      resource: '/groups/{id}',
      path,
      httpMethod: 'GET',
      pathParameters: { id: 'a/b c' },
      headers: { 'X-One': '1', 'x-two': 'b' },
      multiValueHeaders: { 'X-One': ['1'], 'x-two': ['a', 'b'] },
      multiValueQueryStringParameters: { x: ['1', '2'], y: ['ä ='] },
      body: '{"a":1}',
      isBase64Encoded: false,
      requestContext: { extendedRequestId: headers['x-amz-apigw-id'] },
    },
    { resource: '/', pathParameters: null, body: null, multiValueQueryStringParameters: null },
  ]);
  const parameters = JSON.stringify(events[0].queryStringParameters);
  expect(parameters).toBe('{"x":"2","y":"ä =","__proto__":"3"}');
});

const fails = () => new Error('secret');
const isDenied = () => Object.assign(new Error('secret'), { name: 'AccessDeniedException' });
const internal = 'Internal server error';
const unsupported = 'isBase64Encoded is not supported on this machine';

it.each<[what: string, Behaviour, status: number, message?: string]>([
  ['returns an unknown key', () => ({ message: 'hello' }), 502],
  ['returns two headers in one', () => ({ headers: { a: 'x\r\ny: z' } }), 502],
  ['returns base64', () => ({ isBase64Encoded: true }), 502, unsupported],
  ['fails', fails, 502],
  ['may not be invoked', isDenied, 500],
  ['is too late', () => new Promise(() => undefined), 504, 'Endpoint request timed out'],
])('a function that %s is an error, without its reason', async (_, groups, status, message = internal) => {
  const Integration = { ...lambda('groups'), TimeoutInMillis: 50 };
  const { send } = await start({ groups }, { changes: { Root: { Integration } } });
  expect(await send('/')).toMatchObject({ status, text: JSON.stringify({ message }) });
});

const allow: Behaviour = ({ methodArn }) => ({
  principalId: 'us-1',
  policyDocument: { Statement: [{ Effect: 'Allow', Action: 'execute-api:Invoke', Resource: methodArn }] },
  context: { exp: 12 },
});

it('caches decisions per identity for the time to live, applied to each method; a failure is not cached', async () => {
  let now = 1_000_000;
  let isFailing = true;
  const authorizer: Behaviour = (event) => (isFailing ? fails() : allow(event));
  const { events, send } = await start({ authorizer, groups: () => ({}) }, { clock: () => now });
  async function expectStatus(status: number, decisions: number, authorization: string, id = 'a') {
    const answer = await send(`/groups/${id}`, [['authorization', authorization]], { method: 'DELETE' });
    expect(answer.status).toBe(status);
    expect(events.filter(({ type }) => type === 'REQUEST')).toHaveLength(decisions);
  }
  await expectStatus(401, 0, '');
  await expectStatus(500, 1, 'Bearer a');
  isFailing = false;
  await expectStatus(200, 2, 'Bearer a');
  now += 59_999;
  await expectStatus(200, 2, 'Bearer a');
  await expectStatus(403, 2, 'Bearer a', 'b');
  await expectStatus(200, 3, 'Bearer b');
  now += 1;
  await expectStatus(200, 4, 'Bearer a');
});

const response = { StatusCode: '200', ResponseTemplates: { 'application/json': '$context.stage' } };
const mock = { Type: 'MOCK', IntegrationResponses: [response] };
// Another integration: test/local/start.test.ts.
it.each<[message: string, changes: Changes]>([
  ['Authorizer: an authorizer of type TOKEN', { Authorizer: { Type: 'TOKEN' } }],
  ...['querystring.a', 'header.a, method.request.header.b', 'header.'].map((of): [string, Changes] => {
    const IdentitySource = `method.request.${of}`;
    return [`Authorizer: the identity source ${IdentitySource} is`, { Authorizer: { IdentitySource } }];
  }),
  ['Root: the method ANY is', { Root: { HttpMethod: 'ANY' } }],
  ['Root: the template $context.stage is', { Root: { Integration: mock } }],
])('refuses a template with %s', (message, changes) => {
  expect(() => read(changes)).toThrow(message);
});

it("replaces an API's address at AWS, and its custom domain name, by the one on this machine", async () => {
  const ofApi = { RestApiId: { Ref: 'Api' } };
  const Resources = {
    Api: resource('RestApi', {}),
    Stage: resource('Stage', { StageName: 'prod', ...ofApi }),
    Domain: resource('DomainName', { DomainName: 'api.example.com' }),
    Mapping: resource('BasePathMapping', { ...ofApi, DomainName: { Ref: 'Domain' } }),
  };
  const cleanup = new Cleanup();
  const stack = { name: 'WalletEu', region: 'eu-central-1', template: { Resources } };
  const { urls, localize } = await openApis(stack, () => 0, cleanup);
  await cleanup.run();
  const ofAws = 'https://WalletEu-Api.execute-api.eu-central-1.amazonaws.com/prod/x';
  expect(localize([ofAws, 'https://api.example.com/x'])).toEqual([`${urls.prod}/x`, `${urls.prod}/x`]);
});
