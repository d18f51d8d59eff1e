import type { APIGatewayProxyEvent } from 'aws-lambda';
import { fail, ok } from '../../../domain/result';
import { type ProblemCode, routes } from '../../../domain/routes';
import { bodyHash } from '../../../domain/tokens';
import type { DeleteUserGroup } from '../../../lambda/delete-user-group/delete-in-database';
import { createHandler } from '../../../lambda/delete-user-group/handler';
import { createUserActionVerifier } from '../../../lambda/shared/user-action';
import { recordLog } from '../../support/log';
import { caller, createSigningKey, issuer, seconds, signUserAction, userGroupId } from '../../support/tokens';

type Json = Readonly<Record<string, unknown>>;

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
  deleteUserGroup.mockReset();
});

interface Request extends Partial<APIGatewayProxyEvent> {
  readonly authorizer?: Json;
  readonly userActions?: readonly string[];
  readonly outcome?: DeleteUserGroup;
}

async function send(request: Request = {}) {
  const { authorizer, userActions, outcome, ...event } = request;
  deleteUserGroup.mockImplementation(outcome ?? (async () => ok('deleted')));
  const { identityId: sub, organizationId: org, kind } = caller;
  const times = { nbf: `${seconds()}`, exp: `${seconds() + 60}` };
  const { statusCode, headers, body } = await handler({
    body: null,
    isBase64Encoded: false,
    pathParameters: { userGroupId },
    multiValueHeaders: {
      Authorization: ['Bearer x'],
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

const signed = (claims: Json, header?: Json): Request => ({
  userActions: [signUserAction(key, claims, header)],
});
const unavailable = fail({ kind: 'database_unavailable', reason: 'timeout' } as const);
const otherId = (prefix: string) => `${prefix}-aaaaa-bbbbb-dddddddddddddd`;
it.each<[refusal: string, Request]>([
  ['token_malformed', { multiValueHeaders: { Authorization: ['Bearer x', 'Bearer x'] } }],
  ['token_expired', { authorizer: { exp: `${seconds() - 60}` } }],
  ['token_not_yet_valid', { authorizer: { nbf: `${seconds() + 60}` } }],
  ['invalid_user_group_id', { pathParameters: { userGroupId: 'ug-AAAAA-bbbbb-cccccccccccccc' } }],
  ['query_not_allowed', { multiValueQueryStringParameters: { force: ['true'] } }],
  ['body_not_allowed', { body: '{"cascade":true}' }],
  ['body_not_allowed', { body: 'AP8=', isBase64Encoded: true }],
  ['caller_kind_not_allowed', { authorizer: { kind: 'EndUser' } }],
  ['user_action_missing', { userActions: [] }],
  ['user_action_invalid: several_headers', { userActions: [signUserAction(key), signUserAction(key)] }],
  ['user_action_mismatch: other_caller', signed({ sub: otherId('us') })],
  ['user_action_mismatch: other_organization', signed({ org: otherId('or') })],
  ['user_action_mismatch: other_method', signed({ htm: 'GET' })],
  ['user_action_mismatch: other_path', signed({ htp: `/auth/user-groups/${otherId('ug')}` })],
  ['user_action_mismatch: other_body', signed({ bh: bodyHash('{"a":1}') })],
  ['user_action_mismatch: other_body', signed({ bh: undefined })],
  ['user_action_expired: expired', signed({ iat: 1000, exp: 1200 })],
  ['user_action_invalid: lives_too_long', signed({ exp: seconds() + 330 })],
  ['user_action_invalid: id_missing', signed({ jti: '' })],
  // PostgreSQL would refuse it.
  ['user_action_invalid: id_missing', signed({ jti: 'a\u0000b' })],
  ['user_action_invalid: audience_not_allowed', signed({ aud: 'wallet-api' })],
  ['user_action_invalid: type_not_allowed', signed({}, { typ: 'JWT' })],
  ['internal_error', { authorizer: { nbf: 'x' } }],
  ['internal_error', { authorizer: { kind: 'Admin' } }],
  ['user_group_not_found', { outcome: async () => ok('user_group_not_found') }],
  ['user_action_replayed', { outcome: async () => ok('user_action_replayed') }],
  ['database_unavailable: timeout', { outcome: async () => unavailable }],
  ['internal_error', { outcome: async () => JSON.parse('secret') }],
])('refuses with %s (%#), tells the caller the code alone, and logs the cause', async (refusal, request) => {
  const [code = '', cause] = refusal.split(': ');
  const { status, headers, body } = await send(request);
  // Those of the status are held by test/contract/openapi.test.ts.
  expect(headers).toMatchObject(responseHeaders);
  const problem = routes.deleteUserGroup.problems[code as ProblemCode<'deleteUserGroup'>];
  const type = `urn:wallet-infrastructure:problem:${code}`;
  expect([status, body]).toEqual([problem.status, { type, ...problem, code, requestId: 'request-1' }]);
  expect(deleteUserGroup).toHaveBeenCalledTimes(request.outcome ? 1 : 0);
  const line =
    code === 'internal_error'
      ? { message: 'Deletion failed', logCode: 'USER_GROUP_DELETION_FAILED', error: expect.any(Error) }
      : { message: 'Deletion refused', logCode: 'USER_GROUP_DELETION_REFUSED', code, cause };
  expect(log.lines).toEqual([{ requestId: 'request-1', ...line }]);
});
