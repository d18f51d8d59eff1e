import { createHash } from 'node:crypto';
import { createUserActionVerifier } from '../../../lambda/delete-user-group/user-action';
import {
  accessTokenClaims,
  caller,
  createSigningKey,
  issuer,
  type Json,
  seconds,
  signJwt,
  signUserAction,
  userGroupId,
} from '../../support/tokens';

const key = createSigningKey();
const verify = createUserActionVerifier({ keys: [key.jwk] }, issuer);
const scope = { caller, method: 'DELETE', path: `/auth/user-groups/${userGroupId}` } as const;
const outcome = (signatures: readonly string[]) => {
  const result = verify(signatures, scope);
  return result.ok ? 'accepted' : `${result.error.code}: ${result.error.cause}`;
};
const hash = (body: string) => createHash('sha256').update(body).digest('base64url');

describe('a user action signature is accepted', () => {
  it('when it was made for this action, and names its id and end', () => {
    const exp = seconds() + 200;
    expect(verify([signUserAction(key, { jti: 'action-1', exp })], scope)).toEqual({
      ok: true,
      value: { id: 'action-1', expiresAt: exp },
    });
  });

  it.each(['', '{}'])('for the body %j', (body) => {
    expect(outcome([signUserAction(key, { bh: hash(body) })])).toBe('accepted');
  });
});

describe('a user action signature is refused', () => {
  it.each<[string, string, Json, Json?]>([
    ['for another caller', 'user_action_mismatch: other_caller', { sub: 'us-aaaaa-bbbbb-dddddddddddddd' }],
    [
      'for another organization',
      'user_action_mismatch: other_organization',
      { org: 'or-aaaaa-bbbbb-dddddddddddddd' },
    ],
    ['for another method', 'user_action_mismatch: other_method', { htm: 'GET' }],
    ['for a method in another case', 'user_action_mismatch: other_method', { htm: 'delete' }],
    [
      'for another group',
      'user_action_mismatch: other_path',
      { htp: '/auth/user-groups/ug-aaaaa-bbbbb-dddddddddddddd' },
    ],
    ['for the path with a query', 'user_action_mismatch: other_path', { htp: `${scope.path}?x=1` }],
    ['for a body', 'user_action_mismatch: other_body', { bh: hash('{"a":1}') }],
    ['without a body hash', 'user_action_mismatch: other_body', { bh: undefined }],
    ['without a method', 'user_action_mismatch: other_method', { htm: undefined }],
    ['when it has expired', 'user_action_expired: expired', { iat: 1000, exp: 1200 }],
    [
      'when it lives longer than five minutes',
      'user_action_invalid: lives_too_long',
      { exp: seconds() + 330 },
    ],
    [
      'when it was made in the future',
      'user_action_invalid: issued_in_the_future',
      { iat: seconds() + 60, exp: seconds() + 120 },
    ],
    ['without an id', 'user_action_invalid: id_missing', { jti: undefined }],
    ['with an empty id', 'user_action_invalid: id_missing', { jti: '' }],
    ['with a long id', 'user_action_invalid: id_missing', { jti: 'x'.repeat(129) }],
    ['with control characters in the id', 'user_action_invalid: id_missing', { jti: 'a\u0000b' }],
    [
      'of another environment',
      'user_action_invalid: issuer_of_another_environment',
      { iss: 'https://other' },
    ],
    ['for the API audience', 'user_action_invalid: audience_not_allowed', { aud: 'wallet-api' }],
    ['of another type', 'user_action_invalid: type_not_allowed', {}, { typ: 'JWT' }],
    ['without a type', 'user_action_invalid: type_not_allowed', {}, { typ: undefined }],
  ])('%s', (...[, expected, claims, header]) => {
    expect(outcome([signUserAction(key, claims, header)])).toBe(expected);
  });

  it('when there is none', () => {
    expect(outcome([])).toBe('user_action_missing: missing');
    expect(outcome([''])).toBe('user_action_missing: missing');
  });

  it('when there are two, even twice the same', () => {
    const signature = signUserAction(key);
    expect(outcome([signature, signature])).toBe('user_action_invalid: several_headers');
  });

  it('when it is an access token', () => {
    expect(outcome([signJwt(key, accessTokenClaims())])).toBe('user_action_invalid: type_not_allowed');
  });

  it('when it is signed with another key', () => {
    expect(outcome([signUserAction(createSigningKey())])).toBe('user_action_invalid: key_unknown');
  });
});
