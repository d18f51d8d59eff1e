import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import fc from 'fast-check';
import { createAccessTokenVerifier } from '../../../lambda/authorize-request/access-token';
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

const key = createSigningKey();
const secondKey = createSigningKey();
const day = 86_400;
const verify = createAccessTokenVerifier({ keys: [key.jwk, secondKey.jwk] }, issuer, day);

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('an access token is accepted', () => {
  it('with the documented claims, and tells the caller', () => {
    const exp = seconds() + 60;
    expect(verify(signJwt(key, accessTokenClaims({ exp })))).toEqual({
      ok: true,
      value: { caller, notBefore: expect.any(Number), expiresAt: exp },
    });
  });

  it('from every key of the set', () => {
    expect(verify(signJwt(secondKey, accessTokenClaims())).ok).toBe(true);
  });

  it.each([undefined, 'JWT', 'at+jwt'])('with type %s', (typ) => {
    expect(verify(signJwt(key, accessTokenClaims(), { typ })).ok).toBe(true);
  });

  it('within the clock tolerance of five seconds, either side', () => {
    expect(verify(signJwt(key, accessTokenClaims({ exp: seconds() - 3 }))).ok).toBe(true);
    expect(verify(signJwt(key, accessTokenClaims({ nbf: seconds() + 4 }))).ok).toBe(true);
  });

  it('when it lives for a day', () => {
    expect(verify(signJwt(key, accessTokenClaims({ iat: seconds(), exp: seconds() + day }))).ok).toBe(true);
  });

  it.each(['iat', 'nbf'])(
    'when its %s comes while the gateway would keep a denial, and tells when it begins',
    (time) => {
      const begin = seconds() + 62;
      expect(verify(signJwt(key, accessTokenClaims({ [time]: begin })))).toMatchObject({
        ok: true,
        value: { notBefore: begin },
      });
    },
  );
});

const refused = (token: string) => {
  const result = verify(token);
  return result.ok ? 'accepted' : `${result.error.kind}: ${result.error.cause}`;
};

describe('an access token is refused, with its cause,', () => {
  it.each<[name: string, cause: string, claims: Json, header?: Json]>([
    ['with alg ES384', 'malformed: algorithm_not_allowed', {}, { alg: 'ES384' }],
    ['without a key id', 'malformed: key_id_missing', {}, { kid: undefined }],
    ['with a numeric key id', 'malformed: key_id_missing', {}, { kid: 1 }],
    ...['jku', 'jwk', 'x5u', 'x5c', 'crit', 'b64', 'zip'].map((name): [string, string, Json, Json] => [
      `with the header ${name}`,
      'malformed: header_not_allowed',
      {},
      { [name]: ['exp'] },
    ]),
    [
      'that is a user action signature by type',
      'malformed: type_not_allowed',
      {},
      { typ: 'user-action+jwt' },
    ],
    ['with an array of audiences', 'malformed: audience_not_allowed', { aud: ['wallet-api'] }],
    ['for the user action audience', 'malformed: audience_not_allowed', { aud: 'wallet-user-action' }],
    ['of another region', 'wrong_issuer: issuer_of_another_environment', { iss: 'https://other' }],
    ['without an issuer', 'malformed: issuer_missing', { iss: undefined }],
    ['without exp', 'malformed: times_missing_or_not_integers', { exp: undefined }],
    ['with exp as text', 'malformed: times_missing_or_not_integers', { exp: `${seconds() + 60}` }],
    ['with a fraction for exp', 'malformed: times_missing_or_not_integers', { exp: seconds() + 60.5 }],
    ['with exp beyond time', 'malformed: times_missing_or_not_integers', { exp: 1e300 }],
    ['without nbf', 'malformed: not_before_missing', { nbf: undefined }],
    ['that has expired', 'expired: expired', { exp: seconds() - 60 }],
    ['that is not valid yet', 'not_yet_valid: not_yet_valid', { nbf: seconds() + 120 }],
    ['from the future', 'not_yet_valid: issued_in_the_future', { iat: seconds() + 120 }],
    ['that lives for longer than a day', 'malformed: lives_too_long', { exp: seconds() + day + 9 }],
    ['with an unknown kind', 'malformed: caller_claims_not_allowed', { kind: 'Admin' }],
    ['with a number for sub', 'malformed: claims_not_allowed', { sub: 7 }],
    ['with an organization of another format', 'malformed: caller_claims_not_allowed', { org: 'or-1' }],
    ['that is enormous', 'malformed: too_long', { pad: 'x'.repeat(1_000_000) }],
  ])('%s', (...[, cause, claims, header]) => {
    expect(refused(signJwt(key, accessTokenClaims(claims), header))).toBe(cause);
  });

  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
  /** A token with the right key's id, signed otherwise. */
  const signedBy = (alg: string, signature: (input: string) => Buffer) => {
    const input = `${encode({ alg, kid: key.jwk.kid })}.${encode(accessTokenClaims())}`;
    return `${input}.${signature(input).toString('base64url')}`;
  };
  const header = `{"alg":"ES256","kid":"${key.jwk.kid}"}`;
  const claims = JSON.stringify(accessTokenClaims());
  const good = signJwt(key, accessTokenClaims());
  const notUtf8 = signText(
    key,
    header,
    Buffer.concat([Buffer.from(claims.replace('}', ',"name":"')), Buffer.from([0xff]), Buffer.from('"}')]),
  );

  it.each<[name: string, cause: string, token: string]>([
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
    [
      'with a key that is not of the set',
      'signature_invalid: key_unknown',
      signJwt(createSigningKey(), accessTokenClaims()),
    ],
    [
      "signed with another key under this key's id",
      'signature_invalid: signature_invalid',
      signJwt(createSigningKey(), accessTokenClaims(), { kid: key.jwk.kid }),
    ],
    [
      'with a claim named twice',
      'malformed: claims_not_an_object',
      signText(key, header, claims.replace('{', '{"kind":"EndUser",')),
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
    ['with a claim that is not UTF-8', 'malformed: claims_not_an_object', notUtf8],
    ['with a byte order mark', 'malformed: claims_not_an_object', signText(key, header, `\ufeff${claims}`)],
    ['with padding', 'malformed: not_base64url', `${good}==`],
    ['with a fourth part', 'malformed: not_three_parts', `${good}.AAAA`],
    ['that is empty', 'malformed: not_three_parts', ''],
  ])('%s', (_, cause, token) => {
    expect(refused(token)).toBe(cause);
  });

  it('with any one bit changed', () => {
    const token = signJwt(key, accessTokenClaims());
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.nat(6), (position, bit) => {
        const changed = Buffer.from(token);
        changed[position] = (changed[position] as number) ^ (1 << bit);
        expect(verify(changed.toString('latin1')).ok).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it('whatever the text, without throwing', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.stringMatching(/^[\w-]{1,20}\.[\w-]{1,20}\.[\w-]{1,20}$/)),
        (text) => {
          expect(verify(text).ok).toBe(false);
        },
      ),
    );
  });
});
