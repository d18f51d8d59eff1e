import { createHmac } from 'node:crypto';
import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { createAccessTokenVerifier, createHandler } from '../../../lambda/authorize-request/handler';
import { recordLog } from '../../support/log';
import {
  accessTokenClaims,
  caller,
  createSigningKey,
  issuer,
  type Json,
  seconds,
  signJwt,
  signText,
} from '../../support/tokens';

// Test tables are built at load time and need the tests' clock.
jest.spyOn(Date, 'now').mockReturnValue(Math.floor(Date.now() / 1000) * 1000);

const [key, secondKey, foreignKey] = [createSigningKey(), createSigningKey(), createSigningKey()];
const day = 86_400;
const verify = createAccessTokenVerifier({ keys: [key.jwk, secondKey.jwk] }, issuer, day);
const log = recordLog();
const handler = createHandler({ verifyAccessToken: verify, log });

const stage = 'arn:aws:execute-api:eu-central-1:000000000000:abc/main';
const authorize = (headers: Json) =>
  handler({
    methodArn: `${stage}/DELETE/auth/user-groups/ug-1`,
    headers,
    requestContext: { requestId: 'chosen-by-caller', extendedRequestId: 'request-1' },
  } as unknown as APIGatewayRequestAuthorizerEvent);
const token = (claims: Json = {}, header: Json = {}, by = key) =>
  signJwt(by, accessTokenClaims(claims), header);

it('allows every route of the stage, so that a cached policy never denies another route', async () => {
  const [exp, { kind }] = [seconds() + 60, caller];
  expect(await authorize({ authorization: `Bearer ${token({ exp })}` })).toEqual({
    principalId: caller.identityId,
    policyDocument: {
      Version: '2012-10-17',
      Statement: [{ Action: 'execute-api:Invoke', Effect: 'Allow', Resource: `${stage}/*` }],
    },
    context: { sub: caller.identityId, org: caller.organizationId, kind, nbf: `${seconds()}`, exp: `${exp}` },
  });
});

it.each<[string, Json, 'Allow' | 'Deny']>([
  ['the last of two, a token', { Authorization: 'Bearer x', authorization: `Bearer ${token()}` }, 'Allow'],
  ['the last of two, no token', { authorization: `Bearer ${token()}`, Authorization: 'Bearer x' }, 'Deny'],
  ['any spelling of the scheme', { Authorization: `bearer  ${token()}` }, 'Allow'],
  ['no other scheme', { Authorization: `Basic ${token()}` }, 'Deny'],
  ['no empty token', { Authorization: 'Bearer' }, 'Deny'],
])('reads the header: %s', async (_, headers, Effect) => {
  expect((await authorize(headers)).policyDocument.Statement).toMatchObject([{ Effect }]);
});

it('denies with code and detail, and logs the cause without the token', async () => {
  log.clear();
  const expired = token({ exp: 1000, nbf: 1, iat: 1 });
  const { policyDocument, context } = await authorize({ authorization: `Bearer ${expired}` });
  expect(policyDocument.Statement).toMatchObject([{ Effect: 'Deny' }]);
  const code = 'token_expired';
  expect(context).toEqual({ code, detail: expect.any(String) });
  const line = { logCode: 'REQUEST_REFUSED', requestId: 'request-1', code, cause: 'expired' };
  expect(log.lines).toEqual([{ message: 'Request refused', ...line }]);
});

it('accepts a token whose times are reached within the cache time of a denial', () => {
  const start = seconds() + 62;
  const accepted = verify(token({ iat: start, nbf: start, exp: start + 60 }));
  expect(accepted).toEqual({ ok: true, value: { caller, notBefore: start, expiresAt: start + 60 } });
});

const encode = (value: string | Buffer) => Buffer.from(value).toString('base64url');
const claims = JSON.stringify(accessTokenClaims());
const header = (alg: string) => JSON.stringify({ alg, kid: key.jwk.kid });
const signedWith = (alg: string, signature: Buffer) =>
  `${encode(header(alg))}.${encode(claims)}.${encode(signature)}`;
const signed = `${encode(header('HS256'))}.${encode(claims)}`;
const hmac = createHmac('sha256', JSON.stringify(key.jwk)).update(signed);
const withClaims = (text: string | Buffer) => signText(key, header('ES256'), text);
const doubleHeader = header('ES256').replace('{', '{"alg":"none",');
const notUtf8 = Buffer.from([...Buffer.from(claims.replace('}', ',"name":"')), 0xff, 0x22, 0x7d]);
const good = token();
/** The same bytes encoded differently: the last character's unused bits are set. */
const respelled = good.slice(0, -1) + { A: 'B', Q: 'R', g: 'h', w: 'x' }[good.slice(-1)];

const accepted = 'accepted';
const notBase64url = 'malformed: not_base64url';
const notSigned = 'signature_invalid: signature_invalid';
const notTimes = 'malformed: times_missing_or_not_integers';
const notAllowed = 'malformed: caller_claims_not_allowed';
const notAnObject = 'malformed: claims_not_an_object';
it.each<[name: string, verdict: string, token: string]>([
  ['without a type', accepted, token({}, { typ: undefined })],
  ['of another key of the set', accepted, token({}, {}, secondKey)],
  ['expired within the tolerance', accepted, token({ exp: seconds() - 5, iat: seconds() - 60 })],

  ['of more than 4,096 characters', 'malformed: too_long', token({ pad: 'x'.repeat(3_000) })],
  ['without a signature', 'malformed: not_three_parts', signedWith('none', Buffer.alloc(0))],
  ['encoded otherwise', notBase64url, respelled],
  ['with alg none', 'malformed: algorithm_not_allowed', signedWith('none', Buffer.alloc(64))],
  ['with an HMAC of the public key', 'malformed: algorithm_not_allowed', signedWith('HS256', hmac.digest())],
  ['with a key', 'malformed: header_not_allowed', token({}, { jwk: foreignKey.jwk }, foreignKey)],
  ['with an extension', 'malformed: header_not_allowed', token({}, { crit: ['exp'] })],
  ['without a key id', 'malformed: key_id_missing', token({}, { kid: undefined })],
  ['of the type of user actions', 'malformed: type_not_allowed', token({}, { typ: 'user-action+jwt' })],
  ['of another curve', 'signature_invalid: signature_length', signedWith('ES256', Buffer.alloc(96))],
  ['of a foreign key', 'signature_invalid: key_unknown', token({}, {}, foreignKey)],
  ["of a foreign key with this key's id", notSigned, token({}, { kid: key.jwk.kid }, foreignKey)],

  ['with a claim named twice', notAnObject, withClaims(claims.replace('{', '{"\\u006bind" : "EndUser",'))],
  ['with a header named twice', 'malformed: header_not_an_object', signText(key, doubleHeader, claims)],
  ['with a claim that is not UTF-8', notAnObject, withClaims(notUtf8)],
  ['with an array of audiences', 'malformed: audience_not_allowed', token({ aud: ['wallet-api'] })],
  ['of another region', 'wrong_region: issuer_of_another_environment', token({ iss: 'https://other' })],
  ['without exp', notTimes, token({ exp: undefined })],
  ['without nbf', 'malformed: not_before_missing', token({ nbf: undefined })],
  ['that is not valid yet', 'not_yet_valid: not_yet_valid', token({ nbf: seconds() + 120 })],
  ['from the future', 'not_yet_valid: issued_in_the_future', token({ iat: seconds() + 120 })],
  ['that lives longer than a day', 'malformed: lives_too_long', token({ exp: seconds() + day + 9 })],
  ['of a day ago', 'malformed: lives_too_long', token({ iat: seconds() - day, exp: seconds() + 9 })],
  ['without an issuer', 'malformed: issuer_missing', token({ iss: undefined })],
  ['with exp out of range', notTimes, token({ exp: 1e15 })],
  ['with a fraction for nbf', notTimes, token({ nbf: seconds() + 0.5 })],
  ['with a malformed organization', notAllowed, token({ org: 'or-1' })],
  ['with an unknown kind', notAllowed, token({ kind: 'EndUsers' })],
  ['with a malformed identity', notAllowed, token({ sub: 'us-1' })],
])('a token %s is %s', (_, verdict, text) => {
  const result = verify(text);
  const found = result.ok ? accepted : `${result.error.code}: ${result.error.cause}`;
  expect(found.replace('token_', '')).toBe(verdict);
});

it('no token with a bit changed is accepted, wherever it is', () => {
  const found = [...good].filter((letter, at) => {
    const changed = String.fromCharCode(letter.charCodeAt(0) ^ (1 << (at % 6)));
    return verify(good.slice(0, at) + changed + good.slice(at + 1)).ok;
  });
  expect(found).toEqual([]);
});
