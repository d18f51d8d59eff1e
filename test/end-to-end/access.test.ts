import { createHash, randomUUID } from 'node:crypto';
import { newId } from '../../lambda/shared/ids';
import { environments } from '../../lib/environments';
import {
  type Answer,
  openTokenMaker,
  send,
  sendPatiently,
  type TokenMaker,
  type WireRequest,
} from '../support/api';
import { type LocalEnvironment, localEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';

let local: LocalEnvironment;
beforeAll(async () => {
  local = await localEnvironment();
}, 90_000);

const seconds = () => Math.floor(Date.now() / 1000);
const pathOf = ({ userGroupId }: Organization) => `/auth/user-groups/${userGroupId}`;

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

    /** A deletion that is due, but for what a test says. */
    async function attempt(
      overrides: Partial<WireRequest> & {
        readonly token?: string | null;
        readonly action?: string | null;
      } = {},
    ): Promise<Answer> {
      const { token, action, headers = [], ...wire } = overrides;
      const bearer = token === undefined ? await tokens.accessToken(organization) : token;
      const userAction = action === undefined ? await tokens.userAction(organization) : action;
      return sendPatiently(baseUrl, {
        path: pathOf(organization),
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

    it.each<[status: number, code: string, what: string, request: () => Promise<Answer>]>([
      [401, 'token_missing', 'no Authorization header', () => attempt({ token: null })],
      [
        401,
        'token_malformed',
        'no token',
        () => attempt({ token: null, headers: [['authorization', 'Bearer']] }),
      ],
      [401, 'token_malformed', 'no JWT', () => attempt({ token: 'abc' })],
      [
        401,
        'token_malformed',
        'the user action for a token',
        async () => attempt({ token: await tokens.userAction(organization) }),
      ],
      [
        401,
        'token_malformed',
        'two Authorization headers',
        () => attempt({ headers: [['authorization', 'Bearer x']] }),
      ],
      [
        401,
        'token_signature_invalid',
        'claims changed',
        async () => attempt({ token: withOtherClaims(await tokens.accessToken(organization)) }),
      ],
      [
        401,
        'token_expired',
        'an expired token',
        async () =>
          attempt({ token: await tokens.accessToken(organization, { nbf: 1, iat: 1, exp: seconds() - 60 }) }),
      ],
      [
        401,
        'token_not_yet_valid',
        'a token of tomorrow',
        async () =>
          attempt({
            token: await tokens.accessToken(organization, { nbf: seconds() + 600, exp: seconds() + 900 }),
          }),
      ],
      [
        401,
        'token_wrong_region',
        "another region's issuer",
        async () =>
          attempt({ token: await tokens.accessToken(organization, { iss: 'https://other.invalid' }) }),
      ],
      [
        400,
        'invalid_user_group_id',
        'an id in capitals',
        () =>
          attempt({
            path: pathOf(organization).toUpperCase().replace('/AUTH/USER-GROUPS/UG', '/auth/user-groups/ug'),
          }),
      ],
      [
        400,
        'invalid_user_group_id',
        'an id that is too long',
        () => attempt({ path: `${pathOf(organization)}aaaa` }),
      ],
      [
        400,
        'invalid_user_group_id',
        'an encoded slash',
        () => attempt({ path: `${pathOf(organization)}%2F` }),
      ],
      [400, 'query_not_allowed', 'a query', () => attempt({ path: `${pathOf(organization)}?force=true` })],
      [
        400,
        'query_not_allowed',
        'a name without a value',
        () => attempt({ path: `${pathOf(organization)}?x` }),
      ],
      [400, 'body_not_allowed', 'a body', () => attempt({ body: '{"force":true}' })],
      [
        403,
        'caller_kind_not_allowed',
        'an end user',
        async () =>
          attempt({
            token: await tokens.accessToken(organization, { kind: 'EndUser', sub: organization.endUserId }),
          }),
      ],
      [403, 'user_action_missing', 'no user action', () => attempt({ action: null })],
      [403, 'user_action_invalid', 'no JWT for a user action', () => attempt({ action: 'abc' })],
      [
        403,
        'user_action_invalid',
        'an access token for a user action',
        async () => attempt({ action: await tokens.accessToken(organization) }),
      ],
      [
        403,
        'user_action_invalid',
        'ten minutes to live',
        async () => attempt({ action: await tokens.userAction(organization, { exp: seconds() + 600 }) }),
      ],
      [
        403,
        'user_action_expired',
        'an expired user action',
        async () =>
          attempt({ action: await tokens.userAction(organization, { iat: 1, exp: seconds() - 60 }) }),
      ],
      [
        403,
        'user_action_mismatch',
        "another caller's user action",
        async () =>
          attempt({ action: await tokens.userAction(organization, { sub: organization.serviceAccountId }) }),
      ],
      [
        403,
        'user_action_mismatch',
        "another organization's user action",
        async () => attempt({ action: await tokens.userAction(organization, { org: newId('or') }) }),
      ],
      [
        403,
        'user_action_mismatch',
        'a user action for a read',
        async () => attempt({ action: await tokens.userAction(organization, { htm: 'GET' }) }),
      ],
      [
        403,
        'user_action_mismatch',
        'a user action for another group',
        async () =>
          attempt({
            action: await tokens.userAction(organization, { htp: `/auth/user-groups/${newId('ug')}` }),
          }),
      ],
      [
        403,
        'user_action_mismatch',
        'a user action for a body',
        async () =>
          attempt({
            action: await tokens.userAction(organization, {
              bh: createHash('sha256').update('{"a":1}').digest('base64url'),
            }),
          }),
      ],
      [
        403,
        'permission_missing',
        'an identity that is not there',
        async () => {
          const sub = newId('us');
          return attempt({
            token: await tokens.accessToken(organization, { sub }),
            action: await tokens.userAction(organization, { sub }),
          });
        },
      ],
      [
        403,
        'permission_missing',
        'an end user under another kind',
        async () => {
          const sub = organization.endUserId;
          return attempt({
            token: await tokens.accessToken(organization, { sub }),
            action: await tokens.userAction(organization, { sub }),
          });
        },
      ],
      [404, 'route_not_found', 'another path', () => attempt({ path: '/auth/user-groups' })],
      [404, 'route_not_found', 'another method', () => attempt({ method: 'POST' })],
      [404, 'route_not_found', 'the root', () => attempt({ path: '/', method: 'GET' })],
    ])('%i %s: %s, and the group stays', async (status, code, _, request) => {
      expect(await request()).toMatchObject({
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
      expect((await attempt({ action, path: `${pathOf(organization)}?x=1` })).status).toBe(400);
      expect((await attempt({ action, body: 'x' })).status).toBe(400);
      expect((await attempt({ action })).status).toBe(200);
    });

    it("404 user_group_not_found: another organization's group looks like one that does not exist", async () => {
      const other = await local.walletJson<Organization>(name, 'seed');
      const askFor = async (userGroupId: string) => {
        const asked = { ...organization, userGroupId };
        return attempt({ path: pathOf(asked), action: await tokens.userAction(asked) });
      };
      const foreign = await askFor(other.userGroupId);
      const absent = await askFor(newId('ug'));
      const comparable = ({ status, headers, body }: Answer) => {
        const { 'x-amzn-requestid': _a, 'x-amz-apigw-id': _b, date: _c, ...rest } = headers;
        return { status, headers: rest, body: { ...body, requestId: body.requestId?.length } };
      };
      expect(foreign.status).toBe(404);
      expect(comparable(foreign)).toEqual(comparable(absent));
      expect(
        (
          await attempt({
            path: pathOf(other),
            token: await tokens.accessToken(other),
            action: await tokens.userAction(other),
          })
        ).status,
      ).toBe(200);
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
