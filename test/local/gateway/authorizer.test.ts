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

async function run(behaviour: Behaviour, authorizer: object = {}, more: object = {}, clock?: () => number) {
  const authorize = new FakeFunction('authorizer', behaviour);
  const deletion = new FakeFunction('groups', () => ({ statusCode: 200 }));
  const gateway = await start({ ...groups(authorizer), ...more }, [authorize, deletion], clock && { clock });
  const remove = (token?: string, path = '/groups/a') =>
    send(gateway, 'DELETE', path, token === undefined ? {} : { authorization: token });
  return { authorize, deletion, remove };
}

test('an allowed request gets through, with the context as strings', async () => {
  const { authorize, deletion, remove } = await run((event) => allow(event, { exp: 12, staff: true }));
  expect((await remove('Bearer t')).status).toBe(200);
  expect(authorize.events[0]).toMatchObject({
    type: 'REQUEST',
    methodArn: 'arn:aws:execute-api:eu-central-1:000000000000:Api/prod/DELETE/groups/a',
    resource: '/groups/{id}',
    headers: { authorization: 'Bearer t' },
    pathParameters: { id: 'a' },
  });
  expect(deletion.events[0].requestContext.authorizer).toEqual({
    principalId: 'us-1',
    exp: '12',
    staff: 'true',
  });
});

test.each([undefined, ''])('without an identity (%p) the authorizer is not called: 401', async (token) => {
  const { authorize, remove } = await run(allow);
  expect(await remove(token)).toMatchObject({ status: 401, json: { message: 'Unauthorized' } });
  expect(authorize.events).toHaveLength(0);
});

const deny: Behaviour = () => ({
  principalId: 'x',
  policyDocument: { Statement: [{ Effect: 'Deny', Action: '*', Resource: '*' }] },
  context: { code: 'token_expired' },
});

test('a denial is ACCESS_DENIED, and its response can use the context of the authorizer', async () => {
  const denied = gatewayResponse('ACCESS_DENIED', '401', {
    ResponseTemplates: { 'application/json': '{"code":"$context.authorizer.code"}' },
  });
  const { deletion, remove } = await run(deny, {}, { Denied: denied });
  expect(await remove('Bearer t')).toMatchObject({ status: 401, json: { code: 'token_expired' } });
  expect(deletion.events).toHaveLength(0);
});

const throwing = (message: string) => () => {
  throw new Error(message);
};

test.each<[string, Behaviour, status: number, errorType: string, message: RegExp]>([
  ['an explicit denial', deny, 403, 'AccessDenied', /with an explicit deny$/],
  [
    'a policy for another method',
    (event) => allow({ methodArn: event.methodArn.replace('DELETE', 'GET') }),
    403,
    'AccessDenied',
    /this resource$/,
  ],
  ['the error "Unauthorized"', throwing('Unauthorized'), 401, 'Unauthorized', /^Unauthorized$/],
  ['another error', throwing('secret'), 500, 'AuthorizerFailure', /^Internal server error$/],
  ['no result', () => null, 500, 'AuthorizerConfiguration', /^Internal/],
  ['no policy', () => ({ principalId: 'x' }), 500, 'AuthorizerConfiguration', /^Internal/],
  [
    'a nested context',
    (event) => allow(event, { roles: ['a'] }),
    500,
    'AuthorizerConfiguration',
    /^Internal/,
  ],
])('%s gives the answer of API Gateway', async (_, behaviour, status, errorType, message) => {
  const { remove, deletion } = await run(behaviour);
  const answer = await remove('Bearer t');
  expect([answer.status, answer.headers['x-amzn-errortype']]).toEqual([status, `${errorType}Exception`]);
  expect(answer.json.message).toMatch(message);
  expect(deletion.events).toHaveLength(0);
});

test('a decision is cached for its time to live, per identity, and is applied to each method', async () => {
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

test('failures are not cached, and nothing is with a time to live of 0', async () => {
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
