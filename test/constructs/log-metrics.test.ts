import type { APIGatewayProxyEvent, APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { fail, ok } from '../../domain/result';
import { createHandler as createAuthorizer } from '../../lambda/authorize-request/handler';
import { createUserActionVerifier } from '../../lambda/delete-user-group/delete-user-group';
import { createHandler as createDeletion } from '../../lambda/delete-user-group/handler';
import { createLog } from '../../lambda/shared/log';
import { withSla } from '../support/rows';
import { type Resource, stackOf } from '../support/stacks';
import {
  caller,
  createSigningKey,
  issuer,
  type Json,
  seconds,
  signUserAction,
  userGroupId,
} from '../support/tokens';

const stack = stackOf(withSla);

const filtersOf = (logGroup: string): readonly Resource[] =>
  stack
    .all('AWS::Logs::MetricFilter')
    .filter(({ Properties }) => Properties.LogGroupName.Ref.startsWith(logGroup));

/** Name and dimension values of each metric that a line increments. */
function countedBy(logGroup: string, line: Json): string[] {
  return filtersOf(logGroup)
    .filter(({ Properties }) => matches(Properties.FilterPattern, line))
    .map(({ Properties }) => {
      const [{ MetricName, Dimensions = [] }] = Properties.MetricTransformations;
      const values = Dimensions.map(
        ({ Key, Value }: Record<string, string>) => `${Key}=${line[field(Value)]}`,
      );
      return [MetricName, ...values].join(' ');
    });
}

const field = (selector = '') => selector.replace('$.', '');

/** Conditions on texts, joined by `&&`: https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html */
function matches(pattern: string, line: Json): boolean {
  const terms = pattern.replace(/^\{ | \}$/g, '').split(' && ');
  return terms.every((term) => {
    const [, selector, comparison, text = ''] = /^(\$\.\w+) (!?=) "([^"]*)"$/.exec(term) ?? [];
    if (comparison === undefined) throw new Error(`This test cannot read the condition ${term}.`);
    const isLike = new RegExp(`^${text.replace('*', '.*')}$`).test(String(line[field(selector)]));
    return isLike === (comparison === '=');
  });
}

/** The log lines of a function, as they reach its log group. */
async function linesOf(run: () => Promise<unknown>): Promise<Json[]> {
  const written: string[] = [];
  const spies = [process.stdout, process.stderr].map((stream) =>
    jest.spyOn(stream, 'write').mockImplementation((text) => {
      written.push(String(text));
      return true;
    }),
  );
  try {
    await run();
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
  return written.map((line) => JSON.parse(line) as Json);
}

const key = createSigningKey();
const deletion = (requested: string, outcome: Awaited<ReturnType<Deletion>> = ok('deleted')) =>
  linesOf(() =>
    createDeletion({
      responseHeaders: {},
      log: createLog('delete-user-group'),
      now: Date.now,
      verifyUserAction: createUserActionVerifier({ keys: [key.jwk] }, issuer),
      deleteUserGroup: async () => outcome,
    })({
      body: null,
      pathParameters: { userGroupId: requested },
      multiValueQueryStringParameters: null,
      multiValueHeaders: { 'X-Svc-UserAction': [signUserAction(key)] },
      requestContext: {
        extendedRequestId: 'request-1',
        authorizer: {
          sub: caller.identityId,
          org: caller.organizationId,
          kind: caller.kind,
          nbf: `${seconds()}`,
          exp: `${seconds() + 60}`,
        },
      },
    } as unknown as APIGatewayProxyEvent),
  );
type Deletion = Parameters<typeof createDeletion>[0]['deleteUserGroup'];

it('counts deletions', async () => {
  const lines = await deletion(userGroupId);
  expect(lines.map((line) => countedBy('DeleteUserGroupLog', line))).toEqual([['Deletions']]);
});

it.each([
  ['a malformed request', () => deletion('none'), 'invalid_user_group_id'],
  [
    'a group that is not there',
    () => deletion(userGroupId, ok('user_group_not_found')),
    'user_group_not_found',
  ],
  [
    'a caller without permission',
    () => deletion(userGroupId, ok('permission_missing')),
    'permission_missing',
  ],
])('counts the refusal of %s by its code', async (_, refuse, code) => {
  const lines = await refuse();
  expect(lines.map((line) => countedBy('DeleteUserGroupLog', line))).toEqual([[`Refusals code=${code}`]]);
});

it('counts the refusal of a token by its code', async () => {
  const authorize = createAuthorizer({
    log: createLog('authorize-request'),
    verifyAccessToken: () => fail({ code: 'token_expired', cause: 'expired' }),
  } as unknown as Parameters<typeof createAuthorizer>[0]);
  const lines = await linesOf(() =>
    authorize({
      methodArn: 'arn:aws:execute-api:eu-central-1:1:abc/api/DELETE/',
      headers: { Authorization: 'Bearer token' },
      requestContext: {},
    } as unknown as APIGatewayRequestAuthorizerEvent),
  );
  expect(lines.map((line) => countedBy('AuthorizeRequestLog', line))).toEqual([
    ['Refusals code=token_expired'],
  ]);
});

describe('the access log', () => {
  const { AccessLogSetting } = stack.named('AWS::ApiGateway::Stage', 'ApiRestApi').Properties;
  /** A line as the stage writes it, with values for some of the variables and a hyphen for the others. */
  const line = (values: Json): Json =>
    Object.fromEntries(
      Object.entries(JSON.parse(AccessLogSetting.Format) as Record<string, string>).map(
        ([name, variable]) => [name, values[variable.replace('$context.', '')] ?? '-'],
      ),
    );
  const counted = (values: Json) => countedBy('ApiAccessLog', line(values));

  it("counts the gateway's own responses by type", () => {
    expect(counted({ status: '401', 'error.responseType': 'ACCESS_DENIED' })).toEqual([
      'GatewayResponses type=ACCESS_DENIED',
    ]);
    expect(counted({ status: '429', 'error.responseType': 'THROTTLED' })).toEqual([
      'Throttled',
      'GatewayResponses type=THROTTLED',
    ]);
  });

  it("counts neither successes nor a function's refusals", () => {
    expect(counted({ status: '200' })).toEqual([]);
    expect(counted({ status: '204', 'error.responseType': 'none' })).toEqual([]);
    expect(counted({ status: '403' })).toEqual([]);
  });
});
