import fc from 'fast-check';
import type { Api } from '../../../local/gateway/model';
import { findRoute } from '../../../local/gateway/request';
import { FakeFunction, groups, lambda, method, send, start, stopAll } from './support';

afterEach(stopAll);

const api = (...paths: string[]): Api => ({
  id: 'api',
  stage: 'prod',
  gatewayResponses: new Map(),
  routes: paths.map((path) => ({ resourceId: path, path, methods: new Map() })),
});

test.each([
  ['/', '/'],
  ['/groups', '/groups'],
  ['/groups/', '/groups'],
  ['/groups/a', '/groups/{id}'],
  ['/groups/a/', '/groups/{id}'],
  ['/groups/all', '/groups/all'],
  ['/groups/a%2Fb', '/groups/{id}'],
  ['/groups//', '/groups'],
  ['/Groups', undefined],
  ['/groups/a/b', undefined],
  ['/groups//b', undefined],
  ['/other', undefined],
])('%s is routed to %s', (path, expected) => {
  const found = findRoute(api('/', '/groups', '/groups/{id}', '/groups/all'), path);
  expect(found?.route.path).toBe(expected);
});

test('a literal is preferred to a parameter, from the first segment on', () => {
  const order = ['/a/{p}', '/{p}/b', '/{p}/{p}'];
  fc.assert(
    fc.property(fc.shuffledSubarray(order, { minLength: 1 }), (routes) => {
      expect(findRoute(api(...routes), '/a/b')?.route.path).toBe(order.find((each) => routes.includes(each)));
    }),
  );
});

test('any parameter is decoded from one segment', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (id) => {
      const found = findRoute(api('/groups/{id}'), `/groups/${encodeURIComponent(id)}`);
      expect(found?.pathParameters).toEqual({ id });
    }),
  );
});

const echo = () => new FakeFunction('groups', () => ({ statusCode: 200, body: 'ok' }));

test('the event has what a REST API puts into it', async () => {
  const fn = echo();
  const { headers } = await send(
    await start(groups(), [fn]),
    'GET',
    '//groups/a%2Fb%20c/?x=1&x=2;y=%C3%A4+=&__proto__=3',
    { 'X-One': '1', 'x-two': ['a', 'b'], 'User-Agent': 'test' },
    '{"a":1}',
  );
  const query = { x: '2', y: 'ä =', ['__proto__']: '3' };
  expect(fn.events[0]).toMatchObject({
    resource: '/groups/{id}',
    path: '/groups/a%2Fb%20c/',
    httpMethod: 'GET',
    headers: { 'X-One': '1', 'x-two': 'b' },
    multiValueHeaders: { 'X-One': ['1'], 'x-two': ['a', 'b'] },
    multiValueQueryStringParameters: { x: ['1', '2'], y: ['ä ='] },
    pathParameters: { id: 'a/b c' },
    stageVariables: null,
    body: '{"a":1}',
    isBase64Encoded: false,
    requestContext: {
      accountId: '000000000000',
      apiId: 'Api',
      stage: 'prod',
      resourcePath: '/groups/{id}',
      resourceId: 'Group',
      httpMethod: 'GET',
      path: '/groups/a%2Fb%20c/',
      protocol: 'HTTP/1.1',
      identity: { sourceIp: '127.0.0.1', userAgent: 'test' },
      requestId: headers['x-amzn-requestid'],
      extendedRequestId: headers['x-amz-apigw-id'],
    },
  });
  expect(Object.entries(fn.events[0].queryStringParameters)).toEqual(Object.entries(query));
});

test('what a request does not have is null in the event', async () => {
  const fn = echo();
  await send(await start({ ...groups(), Root: method('root', 'GET', lambda('groups')) }, [fn]), 'GET', '/');
  expect(fn.events[0]).toMatchObject({
    resource: '/',
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: null,
    body: null,
  });
});
