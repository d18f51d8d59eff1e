import type { APIGatewayProxyEvent } from 'aws-lambda';
import { fail, ok } from '../../../domain/result';
import { bodyHash } from '../../../domain/tokens';
import type { DeleteUserGroup } from '../../../lambda/delete-user-group/delete-in-database';
import { createHandler } from '../../../lambda/delete-user-group/handler';
import { createUserActionVerifier } from '../../../lambda/shared/user-action';
import { recordLog } from '../../support/log';
import {
  caller,
  createSigningKey,
  issuer,
  type Json,
  seconds,
  signUserAction,
  userGroupId,
} from '../../support/tokens';

// Test tables are built at load time and need the tests' clock.
jest.spyOn(Date, 'now').mockReturnValue(Date.now());

const key = createSigningKey();
const log = recordLog();
const deleteUserGroup = jest.fn<ReturnType<DeleteUserGroup>, Parameters<DeleteUserGroup>>();
const responseHeaders = { Deprecation: '@1795132800' };
const handler = createHandler({
  responseHeaders,
  log,
  now: () => Date.now(),
  verifyUserAction: createUserActionVerifier({ keys: [key.jwk] }, issuer),
  deleteUserGroup,
});

beforeEach(() => {
  log.clear();
  deleteUserGroup.mockReset().mockResolvedValue(ok('deleted'));
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
  const deletion = { caller, userGroupId, requestId: 'request-1', userAction };
  expect(deleteUserGroup.mock.calls).toEqual([[deletion]]);
});

it.each<[title: string, request: Request]>([
  ['an empty body', { body: '' }],
  ['{} in base64', { body: 'e30=', isBase64Encoded: true }],
  ['{}, signed as such', { body: '{}', userActions: [signUserAction(key, { bh: bodyHash('{}') })] }],
])('accepts a request without content: %s', async (_, request) => {
  expect((await send(request)).status).toBe(200);
});

it.each<[code: string, status: number, Request]>([
  ['token_malformed', 401, { authorization: ['Bearer x', 'Bearer x'] }],
  ['token_expired', 401, { authorizer: { exp: `${seconds() - 60}` } }],
  ['token_not_yet_valid', 401, { authorizer: { nbf: `${seconds() + 60}` } }],
  ['invalid_user_group_id', 400, { id: 'ug-AAAAA-bbbbb-cccccccccccccc' }],
  ['query_not_allowed', 400, { multiValueQueryStringParameters: { force: ['true'] } }],
  ['body_not_allowed', 400, { body: '{"cascade":true}' }],
  ['caller_kind_not_allowed', 403, { authorizer: { kind: 'EndUser' } }],
  ['user_action_missing', 403, { userActions: [] }],
  ['body_not_allowed', 400, { body: 'AP8=', isBase64Encoded: true }],
  ['user_action_invalid', 403, { userActions: [signUserAction(key), signUserAction(key)] }],
  ['internal_error', 500, { authorizer: { nbf: 'x' } }],
  ['internal_error', 500, { authorizer: { kind: 'Admin' } }],
])('returns %s with status %i for %j', async (code, status, request) => {
  const refused = await send(request);
  const headers = { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' };
  const challenge = status === 401 && { 'WWW-Authenticate': expect.stringMatching(/^Bearer/) };
  expect(refused.status).toBe(status);
  expect(refused.headers).toEqual({ ...headers, ...responseHeaders, ...challenge });
  const type = `urn:wallet-infrastructure:problem:${code}`;
  const words = { title: expect.any(String), detail: expect.any(String) };
  expect(refused.body).toEqual({ type, ...words, status, code, requestId: 'request-1' });
  expect(deleteUserGroup).not.toHaveBeenCalled();
});

it.each<[code: string, status: number, outcome: DeleteUserGroup]>([
  ['user_group_not_found', 404, async () => ok('user_group_not_found')],
  ['user_action_replayed', 403, async () => ok('user_action_replayed')],
  ['database_unavailable', 503, async () => fail({ kind: 'database_unavailable', reason: 'secret' })],
  // It throws.
  ['internal_error', 500, async () => JSON.parse('secret')],
])('returns %s with status %i, not why, and logs it', async (code, status, outcome) => {
  deleteUserGroup.mockImplementation(outcome);
  const response = await send();
  const retry = status === 503 && { 'Retry-After': '5' };
  expect(response).toMatchObject({ status, headers: { ...responseHeaders, ...retry }, body: { code } });
  expect(JSON.stringify(response)).not.toContain('secret');
  expect(log.lines).toMatchObject([
    { logCode: `USER_GROUP_DELETION_${status === 500 ? 'FAILED' : 'REFUSED'}` },
  ]);
});

const other = (name: string) => `user_action_mismatch: other_${name}`;
const invalid = (cause: string) => `user_action_invalid: ${cause}`;
it.each<[name: string, refusal: string, claims: Json, header?: Json]>([
  ['for another caller', other('caller'), { sub: 'us-aaaaa-bbbbb-dddddddddddddd' }],
  ['for another organization', other('organization'), { org: 'or-aaaaa-bbbbb-dddddddddddddd' }],
  ['for another method', other('method'), { htm: 'GET' }],
  ['for another group', other('path'), { htp: '/auth/user-groups/ug-aaaaa-bbbbb-dddddddddddddd' }],
  ['for a body', other('body'), { bh: bodyHash('{"a":1}') }],
  ['without a body hash', other('body'), { bh: undefined }],
  ['expired', 'user_action_expired: expired', { iat: 1000, exp: 1200 }],
  ['of over five minutes', invalid('lives_too_long'), { exp: seconds() + 330 }],
  ['with an empty id', invalid('id_missing'), { jti: '' }],
  ['with an id that PostgreSQL refuses', invalid('id_missing'), { jti: 'a\u0000b' }],
  ['for the API audience', invalid('audience_not_allowed'), { aud: 'wallet-api' }],
  ['of the type of access tokens', invalid('type_not_allowed'), {}, { typ: 'JWT' }],
])('refuses a user action signature %s', async (...[, refusal, claims, header]) => {
  const signature = signUserAction(key, claims, header);
  expect((await send({ userActions: [signature] })).status).toBe(403);
  expect(deleteUserGroup).not.toHaveBeenCalled();
  expect(log.lines.map(({ code, cause }) => `${code}: ${cause}`)).toEqual([refusal]);
  expect(JSON.stringify(log.lines)).not.toContain(signature.split('.')[2]);
});
