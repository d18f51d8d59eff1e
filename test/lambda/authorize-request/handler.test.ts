import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { createAccessTokenVerifier } from '../../../lambda/authorize-request/access-token';
import { createDependencies, createHandler } from '../../../lambda/authorize-request/handler';
import { asOnAws } from '../../support/function-variables';
import { recordLog } from '../../support/log';
import { accessTokenClaims, caller, createSigningKey, issuer, seconds, signJwt } from '../../support/tokens';

const key = createSigningKey();
const log = recordLog();
const handler = createHandler({
  verifyAccessToken: createAccessTokenVerifier({ keys: [key.jwk] }, issuer, 86_400),
  log,
});

const methodArn = 'arn:aws:execute-api:eu-central-1:000000000000:abc/main/DELETE/auth/user-groups/ug-1';
const event = (...authorization: string[]) =>
  ({
    methodArn,
    headers: { authorization: authorization.at(-1) },
    multiValueHeaders: { authorization },
    requestContext: { requestId: 'chosen-by-caller', extendedRequestId: 'request-1' },
  }) as unknown as APIGatewayRequestAuthorizerEvent;

beforeEach(() => log.clear());

it('allows every route of the stage, so that a cached policy never denies another route', async () => {
  const exp = seconds() + 60;
  const answer = await handler(event(`Bearer ${signJwt(key, accessTokenClaims({ exp }))}`));
  expect(answer.policyDocument.Statement).toEqual([
    {
      Action: 'execute-api:Invoke',
      Effect: 'Allow',
      Resource: 'arn:aws:execute-api:eu-central-1:000000000000:abc/main/*',
    },
  ]);
  expect(answer.context).toEqual({
    sub: caller.identityId,
    org: caller.organizationId,
    kind: caller.kind,
    nbf: expect.stringMatching(/^\d+$/),
    exp: `${exp}`,
  });
});

it('decides by the last of several headers, by which the gateway caches the decision: the functions refuse several', async () => {
  const effectOf = async (...headers: string[]) =>
    (await handler(event(...headers))).policyDocument.Statement[0]?.Effect;
  expect(await effectOf('Bearer x', bearer())).toBe('Allow');
  expect(await effectOf(bearer(), 'Bearer x')).toBe('Deny');
  const twoSpellings = { ...event(), headers: { Authorization: 'Bearer x', authorization: bearer() } };
  expect((await handler(twoSpellings)).policyDocument.Statement[0]?.Effect).toBe('Allow');
});

it('accepts the event that the guide of the gateway shows: no list of values, no extended id', async () => {
  const answer = await handler({
    methodArn,
    headers: { Authorization: `Bearer ${signJwt(key, accessTokenClaims())}` },
    requestContext: { requestId: 'request-2' },
  } as unknown as APIGatewayRequestAuthorizerEvent);
  expect(answer.policyDocument.Statement).toMatchObject([{ Effect: 'Allow' }]);
  expect(log.lines).toMatchObject([{ requestId: 'request-2' }]);
});

const bearer = (claims = {}, by = key) => `Bearer ${signJwt(by, accessTokenClaims(claims))}`;

it.each([
  ['an expired token', [bearer({ exp: 1000, nbf: 1, iat: 1 })], 'token_expired'],
  ['a token from the future', [bearer({ nbf: seconds() + 99 })], 'token_not_yet_valid'],
  ['a token of another region', [bearer({ iss: 'x' })], 'token_wrong_region'],
  ['a token with a foreign key', [bearer({}, createSigningKey())], 'token_signature_invalid'],
  ['no token', ['Bearer'], 'token_malformed'],
  ['another scheme', ['Basic dXNlcjpwYXNz'], 'token_malformed'],
])('denies %s and says why', async (_, headers, code) => {
  const answer = await handler(event(...headers));
  expect(answer.policyDocument.Statement[0]).toMatchObject({ Effect: 'Deny' });
  expect(answer.context).toMatchObject({ code, detail: expect.any(String) });
});

it('logs one line with the cause, and nothing of the token', async () => {
  const token = signJwt(key, accessTokenClaims({ exp: 1000, nbf: 1, iat: 1 }));
  await handler(event(`Bearer ${token}`));
  expect(log.lines).toHaveLength(1);
  expect(log.lines[0]).toMatchObject({
    logCode: 'REQUEST_REFUSED',
    cause: 'expired',
    requestId: 'request-1',
  });
  expect(JSON.stringify(log.lines)).not.toContain(token.split('.')[1]);
});

it('takes tokens of a day with the variables of a release before TOKEN_LIFETIME, as in the middle of an update', async () => {
  const variables = { TOKEN_ISSUER: issuer, TOKEN_KEYS: JSON.stringify({ keys: [key.jwk] }) };
  const { verifyAccessToken } = asOnAws(createDependencies, variables);
  const iat = seconds();
  const verified = (exp: number) => verifyAccessToken(signJwt(key, accessTokenClaims({ iat, exp }))).ok;
  expect([verified(iat + 86_400), verified(iat + 86_401)]).toEqual([true, false]);
});
