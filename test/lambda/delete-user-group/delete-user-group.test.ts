import type { APIGatewayProxyEvent } from 'aws-lambda';
import { fail, ok, type Result } from '../../../domain/result';
import { bodyHash } from '../../../domain/tokens';
import type { DatabaseUnavailable } from '../../../lambda/database/database';
import type {
  DeletionOutcome,
  UserGroupDeletion,
} from '../../../lambda/delete-user-group/delete-in-database';
import { createUserActionVerifier } from '../../../lambda/delete-user-group/delete-user-group';
import { createHandler } from '../../../lambda/delete-user-group/handler';
import { recordLog } from '../../support/log';
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

// Test tables are built at load time and need the tests' clock.
jest.spyOn(Date, 'now').mockReturnValue(Date.now());

const key = createSigningKey();
const log = recordLog();
const deletions: UserGroupDeletion[] = [];
let outcome: () => Result<DeletionOutcome, DatabaseUnavailable>;
const responseHeaders = { Deprecation: '@1795132800' };
const handler = createHandler({
  responseHeaders,
  log,
  now: () => Date.now(),
  verifyUserAction: createUserActionVerifier({ keys: [key.jwk] }, issuer),
  deleteUserGroup: async (deletion) => {
    deletions.push(deletion);
    return outcome();
  },
});

beforeEach(() => {
  log.clear();
  deletions.splice(0);
  outcome = () => ok('deleted');
});

interface Request extends Partial<APIGatewayProxyEvent> {
  readonly authorizer?: Json;
  readonly id?: string;
  readonly userActions?: readonly string[];
  readonly authorization?: readonly string[];
}

async function send({ authorizer, id = userGroupId, userActions, authorization, ...event }: Request = {}) {
  const { identityId: sub, organizationId: org, kind } = caller;
  const times = { nbf: `${seconds()}`, exp: `${seconds() + 60}` };
  const { statusCode, headers, body } = await handler({
    body: null,
    isBase64Encoded: false,
    pathParameters: { userGroupId: id },
    multiValueHeaders: {
      Authorization: authorization ?? ['Bearer x'],
      'X-Svc-UserAction': userActions ?? [signUserAction(key)],
    },
    requestContext: {
      requestId: 'chosen-by-caller',
      extendedRequestId: 'request-1',
      authorizer: { sub, org, kind, ...times, ...authorizer },
    },
    ...event,
  } as unknown as APIGatewayProxyEvent);
  return { status: statusCode, headers, body: JSON.parse(body) };
}

it('returns 200 and an empty object for a deletion', async () => {
  const exp = seconds() + 200;
  expect(await send({ userActions: [signUserAction(key, { jti: 'action-1', exp })] })).toEqual({
    status: 200,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...responseHeaders },
    body: {},
  });
  const userAction = { id: 'action-1', expiresAt: exp };
  expect(deletions).toEqual([{ caller, userGroupId, requestId: 'request-1', userAction }]);
});

it.each<[string, Request]>([
  ['an empty body', { body: '' }],
  ['an empty object', { body: '{}' }],
  ['an empty object in base64', { body: 'e30=', isBase64Encoded: true }],
  ['a signature for an empty object', { userActions: [signUserAction(key, { bh: bodyHash('{}') })] }],
])('accepts %s', async (_, request) => {
  expect((await send(request)).status).toBe(200);
});

const endUser = { kind: 'EndUser' };
const query = { multiValueQueryStringParameters: { force: ['true'] } };
it.each<[name: string, status: number, code: string, request: Request]>([
  ['a token that expired while cached', 401, 'token_expired', { authorizer: { exp: `${seconds() - 60}` } }],
  ['a token not valid yet', 401, 'token_not_yet_valid', { authorizer: { nbf: `${seconds() + 60}` } }],
  ['two tokens', 401, 'token_malformed', { authorization: ['Bearer x', 'Bearer x'] }],
  ['a malformed id', 400, 'invalid_user_group_id', { id: 'ug-AAAAA-bbbbb-cccccccccccccc' }],
  ['a query', 400, 'query_not_allowed', query],
  ['a body', 400, 'body_not_allowed', { body: '{"cascade":true}' }],
  ['a blank body', 400, 'body_not_allowed', { body: ' ' }],
  ['a binary body', 400, 'body_not_allowed', { body: 'AP8=', isBase64Encoded: true }],
  ['an end user', 403, 'caller_kind_not_allowed', { authorizer: endUser }],
  // The first failing check determines the response.
  ['token before id', 401, 'token_expired', { authorizer: { exp: '1' }, id: 'x' }],
  ['id before query', 400, 'invalid_user_group_id', { id: 'x', ...query }],
  ['query before body', 400, 'query_not_allowed', { ...query, body: 'x' }],
  ['body before caller', 400, 'body_not_allowed', { body: 'x', authorizer: endUser }],
  ['caller before user action', 403, 'caller_kind_not_allowed', { authorizer: endUser, userActions: [] }],
])('refuses %s without accessing the database', async (_, status, code, request) => {
  const refused = await send(request);
  const headers = { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' };
  const challenge = status === 401 && { 'WWW-Authenticate': expect.stringMatching(/^Bearer/) };
  expect(refused).toMatchObject({ status, headers: { ...headers, ...responseHeaders, ...challenge } });
  const type = `urn:wallet-infrastructure:problem:${code}`;
  const words = { title: expect.any(String), detail: expect.any(String) };
  expect(refused.body).toEqual({ type, ...words, status, code, requestId: 'request-1' });
  expect(deletions).toEqual([]);
});

it.each<[code: string, status: number, outcome: () => ReturnType<typeof outcome>]>([
  ['user_group_not_found', 404, () => ok('user_group_not_found')],
  ['permission_missing', 403, () => ok('permission_missing')],
  ['user_action_replayed', 403, () => ok('user_action_replayed')],
  ['database_unavailable', 503, () => fail({ kind: 'database_unavailable', reason: 'secret' })],
  [
    'internal_error',
    500,
    () => {
      throw new Error('relation "secret" does not exist');
    },
  ],
])('returns %s with status %i, and logs it', async (code, status, result) => {
  outcome = result;
  const response = await send();
  const retry = status === 503 && { 'Retry-After': '5' };
  expect(response).toMatchObject({ status, headers: { ...responseHeaders, ...retry }, body: { code } });
  expect(JSON.stringify(response)).not.toContain('secret');
  expect(log.lines).toMatchObject([
    status === 500
      ? { logCode: 'USER_GROUP_DELETION_FAILED' }
      : { logCode: 'USER_GROUP_DELETION_REFUSED', code },
  ]);
});

it.each<Json>([{ exp: undefined }, { nbf: 'x' }, { sub: undefined }, { kind: 'Admin' }])(
  'fails without accessing the database if the authorizer returns %j',
  async (authorizer) => {
    expect(await send({ authorizer })).toMatchObject({ status: 500, body: { code: 'internal_error' } });
    expect(deletions).toEqual([]);
  },
);

it('never uses the request id that the caller chooses', async () => {
  const chosen = { requestContext: { requestId: 'chosen-by-caller' } } as unknown as Request;
  await expect(send(chosen)).rejects.toThrow('no extended request id');
});

const signed = signUserAction(key);
const path = `/auth/user-groups/${userGroupId}`;
const other = (name: string) => `user_action_mismatch: other_${name}`;
it.each<[name: string, refusal: string, signatures: readonly string[] | Json, header?: Json]>([
  ['none', 'user_action_missing: undefined', []],
  ['an empty one', 'user_action_missing: undefined', ['']],
  ['two', 'user_action_invalid: several_headers', [signed, signed]],
  ['an access token', 'user_action_invalid: type_not_allowed', [signJwt(key, accessTokenClaims())]],
  ['for another caller', other('caller'), { sub: 'us-aaaaa-bbbbb-dddddddddddddd' }],
  ['for another organization', other('organization'), { org: 'or-aaaaa-bbbbb-dddddddddddddd' }],
  ['for another method', other('method'), { htm: 'GET' }],
  ['for a method in another case', other('method'), { htm: 'delete' }],
  ['without a method', other('method'), { htm: undefined }],
  ['for another group', other('path'), { htp: '/auth/user-groups/ug-aaaaa-bbbbb-dddddddddddddd' }],
  ['for the path with a query', other('path'), { htp: `${path}?x=1` }],
  ['for a body', other('body'), { bh: bodyHash('{"a":1}') }],
  ['without a body hash', other('body'), { bh: undefined }],
  ['expired', 'user_action_expired: expired', { iat: 1000, exp: 1200 }],
  ['of over five minutes', 'user_action_invalid: lives_too_long', { exp: seconds() + 330 }],
  ['without an id', 'user_action_invalid: id_missing', { jti: undefined }],
  ['with an id of 129 characters', 'user_action_invalid: id_missing', { jti: 'x'.repeat(129) }],
  ['with an id that PostgreSQL refuses', 'user_action_invalid: id_missing', { jti: 'a\u0000b' }],
  ['for the API audience', 'user_action_invalid: audience_not_allowed', { aud: 'wallet-api' }],
  ['of another type', 'user_action_invalid: type_not_allowed', {}, { typ: 'JWT' }],
  ['without a type', 'user_action_invalid: type_not_allowed', {}, { typ: undefined }],
])('refuses a user action signature: %s', async (...[, refusal, signatures, header]) => {
  const userActions = Array.isArray(signatures)
    ? signatures
    : [signUserAction(key, signatures as Json, header)];
  expect((await send({ userActions })).status).toBe(403);
  expect(deletions).toEqual([]);
  expect(log.lines.map(({ code, cause }) => `${code}: ${cause}`)).toEqual([refusal]);
  for (const signature of userActions.filter(Boolean)) {
    expect(JSON.stringify(log.lines)).not.toContain(signature.split('.')[2]);
  }
});
