import { findResource } from '../../../local/gateway/request';
import { groups, lambda, method, start } from './support';

const find = (path: string, ...paths: string[]) => {
  const { candidates, pathParameters } = findResource(
    { methods: paths.map((each) => ({ path: each })) },
    path,
  );
  return { found: candidates[0]?.path, pathParameters };
};

it.each([
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
  expect(find(path, '/', '/groups', '/groups/{id}', '/groups/all').found).toBe(expected);
});

it.each([
  ['/a/{p}', ['/{p}/{q}', '/{p}/b', '/a/{p}']],
  ['/{p}/b', ['/{p}/{q}', '/{p}/b']],
])('prefers a literal to a parameter, from the first segment on: %s', (expected, paths) => {
  expect(find('/a/b', ...paths).found).toBe(expected);
});

it('decodes a parameter from one segment', () => {
  expect(find('/groups/a%2Fb%20%C3%BC%ff', '/groups/{id}').pathParameters).toEqual({ id: 'a/b ü\uFFFD' });
});

it('sends functions the event of a REST API', async () => {
  const { events, send } = await start(groups(), { groups: () => ({}) });
  const path = '/groups/a%2Fb%20c/';
  const { headers } = await send(`/${path}?x=1&x=2;y=%C3%A4+=&__proto__=3`, {
    headers: { 'X-One': '1', 'x-two': ['a', 'b'], 'User-Agent': 'test' },
    body: '{"a":1}',
  });
  expect(events).toMatchObject([
    {
      resource: '/groups/{id}',
      path,
      httpMethod: 'GET',
      headers: { 'X-One': '1', 'x-two': 'b' },
      multiValueHeaders: { 'X-One': ['1'], 'x-two': ['a', 'b'] },
      multiValueQueryStringParameters: { x: ['1', '2'], y: ['ä ='] },
      pathParameters: { id: 'a/b c' },
      stageVariables: null,
      body: '{"a":1}',
      isBase64Encoded: false,
      requestContext: {
        ...{ accountId: '000000000000', apiId: 'Api', stage: 'prod', protocol: 'HTTP/1.1' },
        ...{ resourcePath: '/groups/{id}', resourceId: 'Group', httpMethod: 'GET', path },
        identity: { sourceIp: '127.0.0.1', userAgent: 'test' },
        requestId: headers['x-amzn-requestid'],
        extendedRequestId: headers['x-amz-apigw-id'],
      },
    },
  ]);
  expect(Object.entries(events[0].queryStringParameters)).toEqual([
    ['x', '2'],
    ['y', 'ä ='],
    ['__proto__', '3'],
  ]);
});

it('sets event fields that the request lacks to null', async () => {
  const Root = method('root', 'GET', lambda('groups'));
  const { events, send } = await start({ ...groups(), Root }, { groups: () => ({}) });
  await send('/');
  const nothing = { queryStringParameters: null, multiValueQueryStringParameters: null };
  expect(events).toMatchObject([{ resource: '/', pathParameters: null, body: null, ...nothing }]);
});
