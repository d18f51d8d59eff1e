import { newId } from '../../domain/ids';
import { deprecationHeaders } from '../../lib/api/gateway-responses';
import { deletion, openTokenMaker, send, type WireRequest, walletDeletion } from '../support/api';
import { localEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';
import { running } from '../support/rows';
import { type Json, seconds } from '../support/tokens';
import { useShared } from '../support/use-shared';

const local = useShared(localEnvironment);
const seed = (environment: string) => local.walletJson<Organization>(environment, 'seed');
const urlOf = (environment: string) => local.outputs(environment).ApiBaseUrl ?? '';
const requestId = expect.stringMatching(/./);
const refused = (status: number, code: string) => ({ status, body: { code, requestId } });

interface Changes {
  readonly token?: Json;
  readonly action?: Json;
  readonly wire?: (right: WireRequest) => Partial<WireRequest>;
}

describe.each(running)('in $name', ({ name, tokenIssuer, deprecation }) => {
  let tokens: ReturnType<typeof openTokenMaker>;
  let organization: Organization;
  beforeAll(async () => {
    tokens = openTokenMaker(local, name, tokenIssuer);
    organization = await seed(name);
  });
  const { Deprecation: since, Sunset: sunset } = deprecationHeaders(deprecation);

  /** A valid deletion with these changes. Checks the deprecation headers of the response. */
  async function attempt({ token, action, wire }: Changes = {}) {
    const accessToken = await tokens.accessToken(organization, token);
    const right = deletion(organization, accessToken, await tokens.userAction(organization, action));
    const answer = await send(urlOf(name), { ...right, ...wire?.(right) });
    expect([answer.headers.deprecation, answer.headers.sunset]).toEqual([since, sunset]);
    return answer;
  }

  it('gateway, authorizer, function and database refuse what they must; then one of two requests with one user action deletes', async () => {
    const hiddenEndUser = { sub: organization.endUserId };
    const cached = await tokens.accessToken(organization);
    const twoTokens = ['x', cached].map((token) => ['authorization', `Bearer ${token}`] as const);
    const rows: [status: number, code: string, changes: Changes][] = [
      [404, 'route_not_found', { wire: () => ({ path: '/auth/user-groups' }) }],
      [404, 'route_not_found', { wire: () => ({ method: 'POST' }) }],
      [401, 'token_missing', { wire: ({ headers = [] }) => ({ headers: headers.slice(1) }) }],
      [401, 'token_malformed', { wire: () => ({ headers: twoTokens }) }],
      [401, 'token_expired', { token: { nbf: 1, iat: 1, exp: seconds() - 60 } }],
      [400, 'invalid_user_group_id', { wire: ({ path }) => ({ path: `${path}%2F` }) }],
      [400, 'query_not_allowed', { wire: ({ path }) => ({ path: `${path}?x` }) }],
      [400, 'body_not_allowed', { wire: () => ({ body: '{"force":true}' }) }],
      [403, 'caller_kind_not_allowed', { token: { kind: 'EndUser' } }],
      [403, 'user_action_missing', { wire: ({ headers = [] }) => ({ headers: headers.slice(0, 1) }) }],
      [403, 'user_action_mismatch', { action: { htp: '/auth/user-groups/ug-1' } }],
      [403, 'permission_missing', { token: hiddenEndUser, action: hiddenEndUser }],
      // The decision on the second token is cached now.
      [403, 'user_action_missing', { wire: () => ({ headers: twoTokens.slice(1) }) }],
      [401, 'token_malformed', { wire: () => ({ headers: twoTokens }) }],
    ];
    for (const [status, code, changes] of rows)
      expect(await attempt(changes)).toMatchObject(refused(status, code));
    const jti = newId('as');
    const answers = await Promise.all([1, 2].map(() => attempt({ action: { jti } })));
    const [deleted, replayed] = answers.sort((one, other) => one.status - other.status);
    const headers = { 'content-type': 'application/json' };
    expect(deleted).toMatchObject({ status: 200, text: '{}', headers });
    expect(replayed).toMatchObject(refused(403, 'user_action_replayed'));
    expect(await attempt()).toMatchObject(refused(404, 'user_group_not_found'));
  });

  it('tokens and groups are unknown in every other environment', async () => {
    const own = await seed(name);
    const ours = await walletDeletion(local, name, own);
    for (const { name: other } of running.filter((row) => row.name !== name)) {
      expect(await send(urlOf(other), ours)).toMatchObject(refused(401, 'token_wrong_region'));
      const asked = { ...(await seed(other)), userGroupId: own.userGroupId };
      const theirs = await walletDeletion(local, other, asked);
      expect(await send(urlOf(other), theirs)).toMatchObject(refused(404, 'user_group_not_found'));
    }
    expect((await send(urlOf(name), ours)).status).toBe(200);
  });
});
