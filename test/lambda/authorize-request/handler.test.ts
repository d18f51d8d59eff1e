import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import fc from 'fast-check';
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

const key = createSigningKey();
const secondKey = createSigningKey();
const day = 86_400;
const verify = createAccessTokenVerifier({ keys: [key.jwk, secondKey.jwk] }, issuer, day);
const log = recordLog();
const handler = createHandler({ verifyAccessToken: verify, log });

const stage = 'arn:aws:execute-api:eu-central-1:000000000000:abc/main';
const event = (headers: Json, extendedRequestId?: string) =>
  ({
    methodArn: `${stage}/DELETE/auth/user-groups/ug-1`,
    headers,
    requestContext: { requestId: 'chosen-by-caller', extendedRequestId },
  }) as unknown as APIGatewayRequestAuthorizerEvent;
const token = (claims: Json = {}, header: Json = {}, by = key) =>
  signJwt(by, accessTokenClaims(claims), header);

beforeEach(() => log.clear());

it('allows every route of the stage, so that a cached policy never denies another route', async () => {
  const exp = seconds() + 60;
  const answer = await handler(event({ authorization: `Bearer ${token({ exp })}` }, 'request-1'));
  expect(answer).toEqual({
    principalId: caller.identityId,
    policyDocument: {
      Version: '2012-10-17',
      Statement: [{ Action: 'execute-api:Invoke', Effect: 'Allow', Resource: `${stage}/*` }],
    },
    context: {
      sub: caller.identityId,
      org: caller.organizationId,
      kind: caller.kind,
      nbf: expect.stringMatching(/^\d+$/),
      exp: `${exp}`,
    },
  });
});

it.each<[string, Json, 'Allow' | 'Deny']>([
  ['the last of two', { Authorization: 'Bearer x', authorization: `Bearer ${token()}` }, 'Allow'],
  ['the last of two', { authorization: `Bearer ${token()}`, Authorization: 'Bearer x' }, 'Deny'],
  ['any spelling of the scheme', { Authorization: `bearer  ${token()}` }, 'Allow'],
  ['no other scheme', { Authorization: `Basic ${token()}` }, 'Deny'],
  ['no empty token', { Authorization: 'Bearer' }, 'Deny'],
])('reads the header: %s', async (_, headers, effect) => {
  const { policyDocument } = await handler(event(headers));
  expect(policyDocument.Statement).toMatchObject([{ Effect: effect }]);
});

it('denies with code and detail, and logs the cause without the token', async () => {
  const expired = token({ exp: 1000, nbf: 1, iat: 1 });
  const answer = await handler(event({ authorization: `Bearer ${expired}` }, 'request-1'));
  expect(answer.policyDocument.Statement).toMatchObject([{ Effect: 'Deny' }]);
  expect(answer.context).toEqual({ code: 'token_expired', detail: expect.any(String) });
  const line = {
    logCode: 'REQUEST_REFUSED',
    requestId: 'request-1',
    code: 'token_expired',
    cause: 'expired',
  };
  expect(log.lines).toEqual([{ message: 'Request refused', ...line }]);
});

it.each<[string, Json, Json?, typeof key?]>([
  ['without a type', {}, { typ: undefined }],
  ['with type JWT', {}, { typ: 'JWT' }],
  ['with type at+jwt', {}, { typ: 'at+jwt' }],
  ['from another key of the set', {}, {}, secondKey],
  ['expired within the tolerance of five seconds', { exp: seconds() - 5, iat: seconds() - 60 }],
  ['that lives for a day', { iat: seconds(), exp: seconds() + day }],
])('accepts a token %s', (...[, claims, header, by]) => {
  expect(verify(token(claims, header, by))).toMatchObject({ ok: true, value: { caller } });
});

it.each(['iat', 'nbf'])('accepts a token whose %s is reached within the cache time of a denial', (time) => {
  const start = seconds() + 62;
  const accepted = verify(token({ [time]: start, exp: start + 60 }));
  expect(accepted).toEqual({ ok: true, value: { caller, notBefore: start, expiresAt: start + 60 } });
});

const refused = (text: string) => {
  const result = verify(text);
  return result.ok ? 'accepted' : `${result.error.code.replace('token_', '')}: ${result.error.cause}`;
};

const notTimes = 'malformed: times_missing_or_not_integers';
it.each<[name: string, refusal: string, claims: Json, header?: Json]>([
  ['with alg ES384', 'malformed: algorithm_not_allowed', {}, { alg: 'ES384' }],
  ['without a key id', 'malformed: key_id_missing', {}, { kid: undefined }],
  ['with a numeric key id', 'malformed: key_id_missing', {}, { kid: 1 }],
  ...['jku', 'jwk', 'x5u', 'x5c', 'crit', 'b64', 'zip'].map((name): [string, string, Json, Json] => [
    `with the header ${name}`,
    'malformed: header_not_allowed',
    {},
    { [name]: ['exp'] },
  ]),
  ['of the type of user actions', 'malformed: type_not_allowed', {}, { typ: 'user-action+jwt' }],
  ['with an array of audiences', 'malformed: audience_not_allowed', { aud: ['wallet-api'] }],
  ['for the user action audience', 'malformed: audience_not_allowed', { aud: 'wallet-user-action' }],
  ['of another region', 'wrong_region: issuer_of_another_environment', { iss: 'https://other' }],
  ['without an issuer', 'malformed: issuer_missing', { iss: undefined }],
  ['without exp', notTimes, { exp: undefined }],
  ['with exp as text', notTimes, { exp: `${seconds() + 60}` }],
  ['with a fraction for exp', notTimes, { exp: seconds() + 60.5 }],
  ['with exp beyond time', notTimes, { exp: 1e300 }],
  ['without nbf', 'malformed: not_before_missing', { nbf: undefined }],
  ['that has expired', 'expired: expired', { exp: seconds() - 6, iat: seconds() - 60 }],
  ['that is not valid yet', 'not_yet_valid: not_yet_valid', { nbf: seconds() + 120 }],
  ['from the future', 'not_yet_valid: issued_in_the_future', { iat: seconds() + 120 }],
  ['that lives longer than a day', 'malformed: lives_too_long', { exp: seconds() + day + 9 }],
  ['with an unknown kind', 'malformed: caller_claims_not_allowed', { kind: 'Admin' }],
  ['with a number for sub', 'malformed: claims_not_allowed', { sub: 7 }],
  ['with a malformed organization', 'malformed: caller_claims_not_allowed', { org: 'or-1' }],
])('refuses a token %s', (...[, refusal, claims, header]) => {
  expect(refused(token(claims, header))).toBe(refusal);
});

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
/** A token with the right key id but another signature. */
const signedBy = (alg: string, signature: (input: string) => Buffer) => {
  const input = `${encode({ alg, kid: key.jwk.kid })}.${encode(accessTokenClaims())}`;
  return `${input}.${signature(input).toString('base64url')}`;
};
const header = `{"alg":"ES256","kid":"${key.jwk.kid}"}`;
const claims = JSON.stringify(accessTokenClaims());
const good = token();
const notUtf8 = Buffer.concat([
  Buffer.from(claims.replace('}', ',"name":"')),
  Buffer.from([0xff, 0x22, 0x7d]),
]);
/** Padded with a claim. */
const ofLength = (length: number) => {
  for (let pad = 0; ; pad += 1) {
    const text = token({ pad: 'x'.repeat(pad) });
    if (text.length >= length) return text;
  }
};
/** The same bytes encoded differently: the last character's unused bits are set. */
const respelled = (part: string) => {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return part.slice(0, -1) + alphabet[alphabet.indexOf(part.at(-1) ?? '') + 1];
};
const [goodHeader = '', goodClaims = '', goodSignature = ''] = good.split('.');
const notCanonical = 'malformed: not_base64url';

it.each<[name: string, refusal: string, token: string]>([
  ['without a signature', 'malformed: not_three_parts', signedBy('none', () => Buffer.alloc(0))],
  ['with alg none', 'malformed: algorithm_not_allowed', signedBy('none', () => Buffer.alloc(3))],
  [
    'with an HMAC made with the public key',
    'malformed: algorithm_not_allowed',
    signedBy('HS256', (input) => createHmac('sha256', JSON.stringify(key.jwk)).update(input).digest()),
  ],
  [
    'signed with RSA',
    'malformed: algorithm_not_allowed',
    signedBy('RS256', (input) => sign('sha256', Buffer.from(input), rsa.privateKey)),
  ],
  [
    'signed on another curve',
    'signature_invalid: signature_length',
    signedBy('ES256', (input) =>
      sign('sha256', Buffer.from(input), { key: p384.privateKey, dsaEncoding: 'ieee-p1363' }),
    ),
  ],
  ['of a foreign key', 'signature_invalid: key_unknown', token({}, {}, createSigningKey())],
  [
    "of a foreign key under this key's id",
    'signature_invalid: signature_invalid',
    token({}, { kid: key.jwk.kid }, createSigningKey()),
  ],
  [
    'with a claim named twice, once escaped',
    'malformed: claims_not_an_object',
    signText(key, header, claims.replace('{', '{"\\u006bind" : "EndUser",')),
  ],
  [
    'with a header named twice',
    'malformed: header_not_an_object',
    signText(key, header.replace('{', '{"alg":"none",'), claims),
  ],
  ['with an array for claims', 'malformed: claims_not_an_object', signText(key, header, '[]')],
  ['with no JSON for claims', 'malformed: claims_not_an_object', signText(key, header, 'x')],
  ['with a claim that is not UTF-8', 'malformed: claims_not_an_object', signText(key, header, notUtf8)],
  ['with a byte order mark', 'malformed: claims_not_an_object', signText(key, header, `\ufeff${claims}`)],
  ['with padding', notCanonical, `${good}==`],
  ['with a line break', notCanonical, `${goodHeader}.${goodClaims}\n.${goodSignature}`],
  ['with a signature in base64', notCanonical, `${goodHeader}.${goodClaims}.${'+/'.repeat(43)}`],
  [
    'with a signature spelled otherwise',
    notCanonical,
    `${goodHeader}.${goodClaims}.${respelled(goodSignature)}`,
  ],
  ['with a fourth part', 'malformed: not_three_parts', `${good}.AAAA`],
  ['that is empty', 'malformed: not_three_parts', ''],
  ['of more than 4,096 characters', 'malformed: too_long', ofLength(4_097)],
])('refuses a token %s', (_, refusal, text) => {
  expect(refused(text)).toBe(refusal);
});

it('accepts a token of 4,096 characters', () => {
  const text = ofLength(4_096);
  expect(text).toHaveLength(4_096);
  expect(refused(text)).toBe('accepted');
});

it('refuses a token with any one bit changed', () => {
  fc.assert(
    fc.property(fc.nat(good.length - 1), fc.nat(6), (position, bit) => {
      const changed = Buffer.from(good);
      changed[position] = (changed[position] as number) ^ (1 << bit);
      expect(verify(changed.toString('latin1')).ok).toBe(false);
    }),
    { numRuns: 200 },
  );
});

it('refuses any text without throwing', () => {
  const likeToken = fc.stringMatching(/^[\w-]{1,20}\.[\w-]{1,20}\.[\w-]{1,20}$/);
  fc.assert(fc.property(fc.oneof(fc.string(), likeToken), (text) => expect(verify(text).ok).toBe(false)));
});
