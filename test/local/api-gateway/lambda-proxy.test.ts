import { FakeFunction, gatewayResponse, get, groups, lambda, method, send, start, stopAll } from './support';

afterEach(stopAll);

const answering = (payload: unknown) => new FakeFunction('groups', () => payload);

/** What the gateway makes of a function's result. */
const replyTo = async (payload: unknown) => get(await start(groups(), [answering(payload)]));

test('the event has what a REST API puts into it', async () => {
  const echo = answering({ statusCode: 200, body: 'ok' });
  const gateway = await start(groups(), [echo]);
  await send(
    gateway,
    'GET',
    '//groups/a%2Fb%20c/?x=1&x=2&y=%C3%A4',
    { 'X-One': '1', 'x-two': ['a', 'b'], 'User-Agent': 'test' },
    '{"a":1}',
  );
  expect(echo.events[0]).toMatchObject({
    resource: '/groups/{id}',
    path: '/groups/a%2Fb%20c/',
    httpMethod: 'GET',
    headers: { 'X-One': '1', 'x-two': 'b', 'X-Forwarded-For': '127.0.0.1', 'X-Forwarded-Proto': 'http' },
    multiValueHeaders: { 'X-One': ['1'], 'x-two': ['a', 'b'] },
    queryStringParameters: { x: '2', y: 'ä' },
    multiValueQueryStringParameters: { x: ['1', '2'], y: ['ä'] },
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
      requestTime: expect.stringMatching(/^\d\d\/\w{3}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
    },
  });
  expect(Object.keys(echo.events[0].headers)).not.toContain('Connection');
});

test('what a request does not have is null in the event', async () => {
  const echo = answering({ statusCode: 200 });
  await send(await start({ ...groups(), Root: method('root', 'GET', lambda('groups')) }, [echo]), 'GET', '/');
  expect(echo.events[0]).toMatchObject({
    resource: '/',
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: null,
    body: null,
  });
});

test('the request ids of the event are those of the response headers', async () => {
  const echo = answering({ statusCode: 204 });
  const { headers, status } = await get(await start(groups(), [echo]));
  const { requestId, extendedRequestId } = echo.events[0].requestContext;
  expect(status).toBe(204);
  expect(headers['x-amzn-requestid']).toBe(requestId);
  expect(headers['x-amz-apigw-id']).toBe(extendedRequestId);
});

test('a response passes with status, headers, repeated headers and body', async () => {
  const { status, headers, body } = await replyTo({
    statusCode: '409',
    headers: { 'Content-Type': 'application/problem+json', 'X-Flag': true, 'Set-Cookie': 'c=3' },
    multiValueHeaders: { 'Set-Cookie': ['a=1', 'b=2'] },
    body: '{"ü":1}',
  });
  expect({ status, body }).toEqual({ status: 409, body: '{"ü":1}' });
  expect(headers).toMatchObject({
    'content-type': 'application/problem+json',
    'x-flag': 'true',
    'set-cookie': ['a=1', 'b=2', 'c=3'],
    'content-length': '8',
  });
});

test('an empty object is 200, application/json, without a body', async () => {
  const { status, headers, body } = await replyTo({});
  expect({ status, body }).toEqual({ status: 200, body: '' });
  expect(headers['content-type']).toBe('application/json');
});

test('headers that a function cannot set come out remapped', async () => {
  const { headers } = await replyTo({
    statusCode: 401,
    headers: { 'WWW-Authenticate': 'Bearer', Date: 'never', 'Retry-After': '1' },
  });
  expect(headers).toMatchObject({
    'x-amzn-remapped-www-authenticate': 'Bearer',
    'x-amzn-remapped-date': 'never',
    'retry-after': '1',
  });
  expect(headers['www-authenticate']).toBeUndefined();
  expect(headers.date).not.toBe('never');
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

test('a function that fails is 502, in the form of DEFAULT_5XX and with its status if it has one', async () => {
  const broken = new FakeFunction('groups', () => {
    throw new Error('secret');
  });
  expect(await get(await start(groups(), [broken]))).toMatchObject({
    status: 502,
    body: '{"message":"Internal server error"}',
  });
  const configured = { ...groups(), Five: gatewayResponse('DEFAULT_5XX', '500') };
  expect(await get(await start(configured, [broken]))).toMatchObject({
    status: 500,
    json: { code: 'DEFAULT_5XX' },
  });
});

test('a function that is not there is 500', async () => {
  expect((await get(await start(groups()))).status).toBe(500);
});

test('past the timeout of the integration the answer is 504, INTEGRATION_TIMEOUT', async () => {
  const resources = {
    ...groups(),
    Get: method('Group', 'GET', lambda('groups', { TimeoutInMillis: 50 })),
    Late: gatewayResponse('INTEGRATION_TIMEOUT', '504'),
  };
  const gateway = await start(resources, [new FakeFunction('groups', () => new Promise(() => {}))]);
  expect(await get(gateway)).toMatchObject({
    status: 504,
    json: { code: 'INTEGRATION_TIMEOUT' },
  });
});
