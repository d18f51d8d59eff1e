import type { APIGatewayProxyEvent } from 'aws-lambda';
import { fail, ok, type Result } from '../../../domain/result';
import type { DatabaseUnavailable } from '../../../lambda/database/database';
import type {
  DeletionOutcome,
  UserGroupDeletion,
} from '../../../lambda/delete-user-group/delete-in-database';
import type { Dependencies } from '../../../lambda/delete-user-group/handler';
import { createHandler } from '../../../lambda/delete-user-group/handler';
import { createUserActionVerifier } from '../../../lambda/delete-user-group/user-action';
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

const key = createSigningKey();
const log = recordLog();
const deletions: UserGroupDeletion[] = [];
let outcome: () => Result<DeletionOutcome, DatabaseUnavailable>;
const dependencies: Dependencies = {
  responseHeaders: {},
  log,
  now: () => Date.now(),
  verifyUserAction: createUserActionVerifier({ keys: [key.jwk] }, issuer),
  deleteUserGroup: async (deletion) => {
    deletions.push(deletion);
    return outcome();
  },
};
const handler = createHandler(dependencies);

beforeEach(() => {
  log.clear();
  deletions.splice(0);
  outcome = () => ok('deleted');
});

interface Request {
  readonly authorizer?: Json;
  readonly id?: string;
  readonly body?: string | null;
  readonly isBase64Encoded?: boolean;
  readonly query?: Record<string, string[]> | null;
  readonly userActions?: readonly string[];
  readonly authorization?: readonly string[];
}

const event = (request: Request = {}) =>
  ({
    body: request.body ?? null,
    isBase64Encoded: request.isBase64Encoded ?? false,
    pathParameters: { userGroupId: request.id ?? userGroupId },
    multiValueQueryStringParameters: request.query ?? null,
    queryStringParameters: null,
    multiValueHeaders: {
      Authorization: request.authorization ?? ['Bearer x'],
      'X-Svc-UserAction': request.userActions ?? [signUserAction(key)],
    },
    requestContext: {
      requestId: 'chosen-by-caller',
      extendedRequestId: 'request-1',
      authorizer: {
        sub: caller.identityId,
        org: caller.organizationId,
        kind: caller.kind,
        nbf: `${seconds()}`,
        exp: `${seconds() + 60}`,
        ...request.authorizer,
      },
    },
  }) as unknown as APIGatewayProxyEvent;

const answer = async (request?: Request) => {
  const { statusCode, headers, body } = await handler(event(request));
  return { status: statusCode, headers, body: JSON.parse(body) };
};

it('answers a deletion with 200 and an empty object', async () => {
  expect(await answer()).toEqual({
    status: 200,
    headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
    body: {},
  });
  expect(deletions).toEqual([
    {
      caller,
      userGroupId,
      requestId: 'request-1',
      userAction: { id: expect.any(String), expiresAt: expect.any(Number) },
    },
  ]);
});

it.each([
  ['an empty body', { body: '' }],
  ['an empty object', { body: '{}' }],
  ['an empty object in base64', { body: 'e30=', isBase64Encoded: true }],
])('takes %s for none', async (_, request) => {
  expect((await answer(request)).status).toBe(200);
});

it.each<[string, number, string, Request]>([
  [
    'a token that expired while the gateway remembered it',
    401,
    'token_expired',
    { authorizer: { exp: `${seconds() - 60}` } },
  ],
  ['a token that is yet to begin', 401, 'token_not_yet_valid', { authorizer: { nbf: `${seconds() + 60}` } }],
  ['two tokens', 401, 'token_malformed', { authorization: ['Bearer x', 'Bearer x'] }],
  ['an id that does not match', 400, 'invalid_user_group_id', { id: 'ug-AAAAA-bbbbb-cccccccccccccc' }],
  ['a query', 400, 'query_not_allowed', { query: { force: ['true'] } }],
  ['a body', 400, 'body_not_allowed', { body: '{"cascade":true}' }],
  ['a body of white space', 400, 'body_not_allowed', { body: ' ' }],
  [
    'binary in the body',
    400,
    'body_not_allowed',
    { body: Buffer.from([0, 255]).toString('base64'), isBase64Encoded: true },
  ],
  ['an end user', 403, 'caller_kind_not_allowed', { authorizer: { kind: 'EndUser' } }],
  ['no user action', 403, 'user_action_missing', { userActions: [] }],
])('refuses %s before it asks the database', async (_, status, code, request) => {
  const refused = await answer(request);
  expect(refused.status).toBe(status);
  expect(refused.headers).toMatchObject({
    'Content-Type': 'application/problem+json',
    'Cache-Control': 'no-store',
  });
  expect(refused.body).toEqual({
    type: `urn:wallet-infrastructure:problem:${code}`,
    title: expect.any(String),
    status,
    detail: expect.any(String),
    code,
    requestId: 'request-1',
  });
  expect(deletions).toHaveLength(0);
});

it('takes a decision without a beginning, which the release before this one left in the cache', async () => {
  expect((await answer({ authorizer: { nbf: undefined } })).status).toBe(200);
});

it('checks in the order of the contract', async () => {
  const everything: Request = {
    authorizer: { exp: '1', kind: 'EndUser' },
    id: 'x',
    query: { a: ['1'] },
    body: 'x',
    userActions: [],
  };
  const { authorizer, ...bad } = everything;
  expect((await answer(everything)).body.code).toBe('token_expired');
  expect((await answer({ ...bad, authorizer: { kind: 'EndUser' } })).body.code).toBe('invalid_user_group_id');
  expect((await answer({ ...bad, id: userGroupId })).body.code).toBe('query_not_allowed');
  expect((await answer({ ...bad, id: userGroupId, query: null })).body.code).toBe('body_not_allowed');
  expect((await answer({ userActions: [], authorizer: { kind: 'EndUser' } })).body.code).toBe(
    'caller_kind_not_allowed',
  );
});

it.each<[DeletionOutcome, number]>([
  ['user_group_not_found', 404],
  ['permission_missing', 403],
  ['user_action_replayed', 403],
])('answers %s with %i', async (refusal, status) => {
  outcome = () => ok(refusal);
  expect(await answer()).toMatchObject({ status, body: { code: refusal } });
});

it('asks the caller to come back when the database is away', async () => {
  outcome = () => fail({ kind: 'database_unavailable', reason: 'timeout' });
  expect(await answer()).toMatchObject({
    status: 503,
    headers: { 'Retry-After': '5' },
    body: { code: 'database_unavailable' },
  });
});

it('explains nothing of a bug, but logs it', async () => {
  outcome = () => {
    throw new Error('relation "secret" does not exist');
  };
  const failed = await answer();
  expect(failed).toMatchObject({ status: 500, body: { code: 'internal_error' } });
  expect(JSON.stringify(failed)).not.toContain('secret');
  expect(log.lines).toMatchObject([{ logCode: 'USER_GROUP_DELETION_FAILED' }]);
});

it('tells the client to authenticate again on 401', async () => {
  const { headers } = await answer({ authorizer: { exp: '1' } });
  expect(headers).toMatchObject({ 'WWW-Authenticate': expect.stringMatching(/^Bearer/) });
});

it('says in every response that the environment is deprecated, when it is', async () => {
  const responseHeaders = { Deprecation: '@1795132800', Sunset: 'Wed, 30 Jun 2027 00:00:00 GMT' };
  const deprecated = createHandler({ ...dependencies, responseHeaders });
  const headersOf = async (request?: Request) => (await deprecated(event(request))).headers;
  expect(await headersOf()).toMatchObject({ ...responseHeaders, 'Content-Type': 'application/json' });
  expect(await headersOf({ id: 'x' })).toMatchObject({
    ...responseHeaders,
    'Content-Type': 'application/problem+json',
  });
  outcome = () => {
    throw new Error('a bug');
  };
  expect(await headersOf()).toMatchObject(responseHeaders);
});

it('logs nothing of the signature', async () => {
  const signature = signUserAction(key, { htm: 'GET' });
  await answer({ userActions: [signature] });
  expect(log.lines).toMatchObject([{ code: 'user_action_mismatch', cause: 'other_method' }]);
  expect(JSON.stringify(log.lines)).not.toContain(signature.split('.')[2]);
});
