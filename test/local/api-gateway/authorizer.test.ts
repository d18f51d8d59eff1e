import {
  allow,
  type Behaviour,
  FakeFunction,
  gatewayResponse,
  groups,
  send,
  start,
  stopAll,
} from './support';

afterEach(stopAll);

const target = () => new FakeFunction('groups', () => ({ statusCode: 200 }));

async function run(behaviour: Behaviour, authorizer: object = {}, more: object = {}, clock?: () => number) {
  const authorize = new FakeFunction('authorizer', behaviour);
  const deletion = target();
  const gateway = await start({ ...groups(authorizer), ...more }, [authorize, deletion], clock && { clock });
  const remove = (token?: string, path = '/groups/a') =>
    send(gateway, 'DELETE', path, token === undefined ? {} : { authorization: token });
  return { authorize, deletion, remove, gateway };
}

test('an allowed request gets through, with the context as strings', async () => {
  const { authorize, deletion, remove } = await run((event) =>
    allow(event, { sub: 'us-1', exp: 12, staff: true }),
  );
  expect((await remove('Bearer t')).status).toBe(200);
  expect(authorize.events[0]).toMatchObject({
    type: 'REQUEST',
    methodArn: 'arn:aws:execute-api:eu-central-1:000000000000:Api/prod/DELETE/groups/a',
    resource: '/groups/{id}',
    path: '/groups/a',
    httpMethod: 'DELETE',
    headers: { authorization: 'Bearer t' },
    pathParameters: { id: 'a' },
  });
  expect(deletion.events[0].requestContext.authorizer).toEqual({
    principalId: 'us-1',
    sub: 'us-1',
    exp: '12',
    staff: 'true',
    integrationLatency: expect.any(Number),
  });
});

test.each([undefined, ''])(
  'without an identity (%p) the authorizer is not called: UNAUTHORIZED',
  async (token) => {
    const { authorize, remove } = await run(allow);
    expect(await remove(token)).toMatchObject({ status: 401, json: { message: 'Unauthorized' } });
    expect(authorize.events).toHaveLength(0);
  },
);

test('a denial is ACCESS_DENIED, and its response can use the context of the authorizer', async () => {
  const denied = gatewayResponse('ACCESS_DENIED', '401', {
    ResponseParameters: { 'gatewayresponse.header.WWW-Authenticate': "'Bearer'" },
    ResponseTemplates: { 'application/json': '{"code":"$context.authorizer.code"}' },
  });
  const deny: Behaviour = () => ({
    principalId: 'x',
    policyDocument: { Statement: [{ Effect: 'Deny', Action: '*', Resource: '*' }] },
    context: { code: 'token_expired' },
  });
  const { deletion, remove } = await run(deny, {}, { Denied: denied });
  const { status, json, headers } = await remove('Bearer t');
  expect({ status, json, challenge: headers['www-authenticate'] }).toEqual({
    status: 401,
    json: { code: 'token_expired' },
    challenge: 'Bearer',
  });
  expect(deletion.events).toHaveLength(0);
  const plain = await run(deny);
  expect(await plain.remove('Bearer t')).toMatchObject({
    status: 403,
    json: { message: 'User is not authorized to access this resource with an explicit deny' },
  });
});

test('a policy for another method is an implicit denial', async () => {
  const { remove } = await run((event) => allow({ methodArn: event.methodArn.replace('DELETE', 'GET') }));
  expect(await remove('Bearer t')).toMatchObject({
    status: 403,
    json: { message: 'User is not authorized to access this resource' },
  });
});

const throwing = (message: string): Behaviour => {
  return () => {
    throw new Error(message);
  };
};

test.each([
  ['the error "Unauthorized"', throwing('Unauthorized'), 401, 'UnauthorizedException'],
  ['another error', throwing('boom'), 500, 'AuthorizerFailureException'],
  ['no result', () => null, 500, 'AuthorizerConfigurationException'],
  ['no policy', () => ({ principalId: 'x' }), 500, 'AuthorizerConfigurationException'],
  [
    'a nested context',
    (event: unknown) => allow(event, { roles: ['a'] }),
    500,
    'AuthorizerConfigurationException',
  ],
])('%s gives the status of API Gateway', async (_, behaviour, status, errorType) => {
  const { remove, deletion } = await run(behaviour as Behaviour);
  const answer = await remove('Bearer t');
  expect(answer.status).toBe(status);
  expect(answer.headers['x-amzn-errortype']).toBe(errorType);
  expect(deletion.events).toHaveLength(0);
});

test('a result is kept for its time to live, per identity, and is applied to each method', async () => {
  let now = 1_000_000;
  const { authorize, remove } = await run(
    (event) => allow(event),
    {},
    {},
    () => now,
  );
  expect((await remove('Bearer a')).status).toBe(200);
  now += 59_999;
  expect((await remove('Bearer a')).status).toBe(200);
  expect((await remove('Bearer a', '/groups/b')).status).toBe(403);
  expect(authorize.events).toHaveLength(1);
  expect((await remove('Bearer b')).status).toBe(200);
  expect(authorize.events).toHaveLength(2);
  now += 1;
  expect((await remove('Bearer a')).status).toBe(200);
  expect(authorize.events).toHaveLength(3);
});

test('failures are not kept, and nothing is with a time to live of 0', async () => {
  let fail = true;
  const first = await run((event) => {
    if (fail) throw new Error('boom');
    return allow(event);
  });
  expect((await first.remove('Bearer a')).status).toBe(500);
  fail = false;
  expect((await first.remove('Bearer a')).status).toBe(200);
  const uncached = await run((event) => allow(event), { AuthorizerResultTtlInSeconds: 0 });
  await uncached.remove('Bearer a');
  await uncached.remove('Bearer a');
  expect(uncached.authorize.events).toHaveLength(2);
});
