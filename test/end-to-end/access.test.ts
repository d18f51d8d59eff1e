import { randomUUID } from 'node:crypto';
import { newId } from '../../lambda/shared/ids';
import { environments } from '../../lib/environments';
import {
  type Answer,
  deletionPath,
  dueDeletion,
  openTokenMaker,
  send,
  sendPatiently,
  type TokenMaker,
  type WireRequest,
} from '../support/api';
import { type LocalEnvironment, localEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';
import { type Json, seconds } from '../support/tokens';

let local: LocalEnvironment;
beforeAll(async () => {
  local = await localEnvironment();
}, 90_000);

interface Differences extends Partial<WireRequest> {
  /** The text, other claims, or null for none. */
  readonly token?: string | Json | null;
  readonly action?: string | Json | null;
}

describe.each(environments.map(({ name, tokenIssuer }) => ({ name, tokenIssuer })))(
  'in $name',
  ({ name, tokenIssuer }) => {
    let baseUrl: string;
    let tokens: TokenMaker;
    let organization: Organization;
    beforeAll(async () => {
      baseUrl = local.outputs(name).ApiBaseUrl ?? '';
      tokens = await openTokenMaker(local, name, tokenIssuer);
    });
    beforeEach(async () => {
      organization = await local.walletJson<Organization>(name, 'seed');
    });

    /** A deletion that is due, but for these differences. */
    async function attempt({ token, action, headers = [], ...wire }: Differences = {}): Promise<Answer> {
      const given = (value: Differences['token'], make: TokenMaker['accessToken']) =>
        value === null || typeof value === 'string' ? value : make(organization, value);
      const bearer = await given(token, tokens.accessToken);
      const userAction = await given(action, tokens.userAction);
      return sendPatiently(baseUrl, {
        path: deletionPath(organization),
        ...wire,
        headers: [
          ...(bearer === null ? [] : ([['authorization', `Bearer ${bearer}`]] as const)),
          ...(userAction === null ? [] : ([['x-svc-useraction', userAction]] as const)),
          ...headers,
        ],
      });
    }

    const isStillThere = async () => expect((await attempt()).status).toBe(200);

    it('200: a deletion that is due', async () => {
      expect(await attempt()).toMatchObject({
        status: 200,
        text: '{}',
        headers: { 'content-type': 'application/json' },
      });
    });

    it.each(['', '{}'])('200: the body %j counts as none', async (body) => {
      expect((await attempt({ body, headers: [['content-type', 'application/json']] })).status).toBe(200);
    });

    it.each<
      [status: number, code: string, what: string, difference: () => Differences | Promise<Differences>]
    >([
      [401, 'token_missing', 'no Authorization header', () => ({ token: null })],
      [401, 'token_malformed', 'no token', () => ({ token: null, headers: [['authorization', 'Bearer']] })],
      [
        401,
        'token_malformed',
        'two Authorization headers',
        () => ({ headers: [['authorization', 'Bearer x']] }),
      ],
      [
        401,
        'token_malformed',
        'the user action for a token',
        async () => ({ token: await tokens.userAction(organization) }),
      ],
      [
        401,
        'token_signature_invalid',
        'claims changed',
        async () => ({ token: withOtherClaims(await tokens.accessToken(organization)) }),
      ],
      [401, 'token_expired', 'an expired token', () => ({ token: { nbf: 1, iat: 1, exp: seconds() - 60 } })],
      [
        401,
        'token_not_yet_valid',
        'a token of tomorrow',
        () => ({ token: { nbf: seconds() + 600, exp: seconds() + 900 } }),
      ],
      [
        401,
        'token_wrong_region',
        "another region's issuer",
        () => ({ token: { iss: 'https://other.invalid' } }),
      ],
      [
        400,
        'invalid_user_group_id',
        'an id in capitals',
        () => ({ path: `/auth/user-groups/${organization.userGroupId.toUpperCase().replace('UG', 'ug')}` }),
      ],
      [
        400,
        'invalid_user_group_id',
        'an encoded slash',
        () => ({ path: `${deletionPath(organization)}%2F` }),
      ],
      [400, 'query_not_allowed', 'a query', () => ({ path: `${deletionPath(organization)}?force=true` })],
      [
        400,
        'query_not_allowed',
        'a name without a value',
        () => ({ path: `${deletionPath(organization)}?x` }),
      ],
      [400, 'body_not_allowed', 'a body', () => ({ body: '{"force":true}' })],
      [
        403,
        'caller_kind_not_allowed',
        'an end user',
        () => ({ token: { kind: 'EndUser', sub: organization.endUserId } }),
      ],
      [403, 'user_action_missing', 'no user action', () => ({ action: null })],
      [
        403,
        'user_action_invalid',
        'an access token for a user action',
        async () => ({ action: await tokens.accessToken(organization) }),
      ],
      [
        403,
        'user_action_expired',
        'an expired user action',
        () => ({ action: { iat: 1, exp: seconds() - 60 } }),
      ],
      [
        403,
        'user_action_mismatch',
        "another caller's user action",
        () => ({ action: { sub: organization.serviceAccountId } }),
      ],
      [
        403,
        'user_action_mismatch',
        'a user action for another group',
        () => ({ action: { htp: `/auth/user-groups/${newId('ug')}` } }),
      ],
      [
        403,
        'permission_missing',
        'an end user under another kind',
        () => ({ token: { sub: organization.endUserId }, action: { sub: organization.endUserId } }),
      ],
      [404, 'route_not_found', 'another path', () => ({ path: '/auth/user-groups' })],
      [404, 'route_not_found', 'another method', () => ({ method: 'POST' })],
    ])('%i %s: %s, and the group stays', async (status, code, _, difference) => {
      expect(await attempt(await difference())).toMatchObject({
        status,
        body: { code, requestId: expect.stringMatching(/./) },
      });
      await isStillThere();
    });

    it('401 tells the client to authenticate', async () => {
      expect((await attempt({ token: null })).headers['www-authenticate']).toMatch(/^Bearer/);
      expect((await attempt({ token: 'abc' })).headers['www-authenticate']).toMatch(/^Bearer/);
    });

    it('403 user_action_replayed: a user action works once', async () => {
      const action = await tokens.userAction(organization);
      expect((await attempt({ action })).status).toBe(200);
      expect(await attempt({ action })).toMatchObject({
        status: 403,
        body: { code: 'user_action_replayed' },
      });
    });

    it('a refused request does not spend the user action', async () => {
      const action = await tokens.userAction(organization);
      expect((await attempt({ action, path: `${deletionPath(organization)}?x=1` })).status).toBe(400);
      expect((await attempt({ action, body: 'x' })).status).toBe(400);
      expect((await attempt({ action })).status).toBe(200);
    });

    it("404 user_group_not_found: another organization's group looks like one that does not exist", async () => {
      const other = await local.walletJson<Organization>(name, 'seed');
      const askFor = async (userGroupId: string) => {
        const asked = { ...organization, userGroupId };
        return attempt({ path: deletionPath(asked), action: await tokens.userAction(asked) });
      };
      const foreign = await askFor(other.userGroupId);
      const absent = await askFor(newId('ug'));
      const comparable = ({ status, headers, body }: Answer) => {
        const { 'x-amzn-requestid': _a, 'x-amz-apigw-id': _b, date: _c, ...rest } = headers;
        return { status, headers: rest, body: { ...body, requestId: body.requestId?.length } };
      };
      expect(foreign.status).toBe(404);
      expect(comparable(foreign)).toEqual(comparable(absent));
      expect((await sendPatiently(baseUrl, await dueDeletion(tokens, other))).status).toBe(200);
    });

    it('413 request_too_large: headers beyond what the gateway takes', async () => {
      expect(await attempt({ headers: [['x-padding', 'x'.repeat(11_000)]] })).toMatchObject({ status: 413 });
      await isStillThere();
    });

    it('429 too_many_requests: a flood is throttled, and the service is there afterwards', async () => {
      const flood = await Promise.all(
        Array.from({ length: 600 }, () => send(baseUrl, { method: 'GET', path: '/webhook-origins' })),
      );
      const throttled = flood.filter(({ status }) => status === 429);
      expect(throttled.length).toBeGreaterThan(0);
      expect(throttled[0]?.body).toMatchObject({ code: 'too_many_requests' });
      await isStillThere();
    });
  },
);

function withOtherClaims(token: string): string {
  const [header, , signature] = token.split('.');
  const claims = { ...decode(token), sub: newId('us'), jti: randomUUID() };
  return `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
}

function decode(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}
