import { allow, type Behaviour, groups, start } from './support';

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

it('passes an allowed request on, with the context as strings', async () => {
  const { decisions, deletions, remove } = await run((event) => allow(event, { exp: 12, staff: true }));
  expect((await remove('Bearer t')).status).toBe(200);
  expect(decisions()).toMatchObject([
    {
      methodArn: 'arn:aws:execute-api:eu-central-1:000000000000:Api/prod/DELETE/groups/a',
      resource: '/groups/{id}',
      headers: { authorization: 'Bearer t' },
      pathParameters: { id: 'a' },
    },
  ]);
  expect(decisions()[0]).not.toHaveProperty('body');
  expect(deletions()[0].requestContext.authorizer).toEqual({ principalId: 'us-1', exp: '12', staff: 'true' });
});

it.each([undefined, ''])('is not called without an identity (%p): 401', async (token) => {
  const { decisions, remove } = await run(allow);
  expect(await remove(token)).toMatchObject({ status: 401, json: { message: 'Unauthorized' } });
  expect(decisions()).toEqual([]);
});

const statement = (Effect: string) => ({ Effect, Action: '*', Resource: '*' });
const deny: Behaviour = () => ({
  policyDocument: { Statement: [statement('Allow'), statement('Deny')] },
});
const throwing = (message: string) => () => {
  throw new Error(message);
};

it.each<[what: string, Behaviour, status: number, message: RegExp]>([
  ['an explicit denial', deny, 403, /with an explicit deny$/],
  [
    'a policy for another method',
    ({ methodArn }) => allow({ methodArn: methodArn.replace('DELETE', 'GET') }),
    ...([403, /this resource$/] as const),
  ],
  ['the error "Unauthorized"', throwing('Unauthorized'), 401, /^Unauthorized$/],
  ['another error', throwing('secret'), 500, /^Internal server error$/],
  ['no result', () => null, 500, /^Internal/],
  ['no policy', () => ({ principalId: 'x' }), 500, /^Internal/],
  ['a nested context', (event) => allow(event, { a: [1] }), 500, /^Internal/],
])('%s refuses the request', async (_, behaviour, status, message) => {
  const { remove, deletions } = await run(behaviour);
  expect(await remove('Bearer t')).toMatchObject({
    status,
    json: { message: expect.stringMatching(message) },
  });
  expect(deletions()).toEqual([]);
});

it('caches decisions per identity for the time to live, and applies them to each method', async () => {
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

it('caches no failures, and nothing with a time to live of 0', async () => {
  let calls = 0;
  const failsOnce = await run((event) => (++calls === 1 ? throwing('boom')() : allow(event)));
  expect((await failsOnce.remove('Bearer a')).status).toBe(500);
  expect((await failsOnce.remove('Bearer a')).status).toBe(200);
  const uncached = await run(allow, { AuthorizerResultTtlInSeconds: 0 });
  for (const expected of [1, 2]) {
    await uncached.remove('Bearer a');
    expect(uncached.decisions()).toHaveLength(expected);
  }
});
