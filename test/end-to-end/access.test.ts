import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { newId } from '../../domain/ids';
import { deprecationHeaders } from '../../lib/api/gateway-responses';
import { environments } from '../../lib/environments';
import {
  type Answer,
  deletionPath,
  dueDeletion,
  openTokenMaker,
  sendPatiently,
  type TokenMaker,
  type WireRequest,
  walletDeletion,
} from '../support/api';
import { type LocalEnvironment, localEnvironment } from '../support/local-environment';
import { expectDocumented } from '../support/openapi';
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

const tomorrow = { iat: seconds() + 86_000, nbf: seconds() + 86_400, exp: seconds() + 87_000 };

describe.each(environments)('in $name', ({ name, tokenIssuer, deprecation, throttle }) => {
  let tokens: TokenMaker;
  let organization: Organization;
  beforeAll(async () => {
    tokens = await openTokenMaker(local, name, tokenIssuer);
  });
  beforeEach(async () => {
    organization = await seed();
  });

  const seed = (environment = name) => local.walletJson<Organization>(environment, 'seed');
  const urlOf = (environment: string) => local.outputs(environment).ApiBaseUrl ?? '';
  const { Deprecation: since, Sunset: sunset } = deprecationHeaders(deprecation);

  /** A valid deletion with these changes. Checks the deprecation headers of the response. */
  async function attempt({ token, action, headers = [], ...wire }: Differences = {}): Promise<Answer> {
    const given = (value: Differences['token'], make: TokenMaker['accessToken']) =>
      value === null || typeof value === 'string' ? value : make(organization, value);
    const bearer = await given(token, tokens.accessToken);
    const userAction = await given(action, tokens.userAction);
    const answer = await sendPatiently(urlOf(name), {
      path: deletionPath(organization),
      ...wire,
      headers: [
        ...(bearer === null ? [] : ([['authorization', `Bearer ${bearer}`]] as const)),
        ...(userAction === null ? [] : ([['x-svc-useraction', userAction]] as const)),
        ...headers,
      ],
    });
    expect([answer.headers.deprecation, answer.headers.sunset]).toEqual([since, sunset]);
    return answer;
  }

  const isStillThere = async () => expect((await attempt()).status).toBe(200);

  it('200: a valid deletion', async () => {
    expect(await attempt()).toMatchObject({
      status: 200,
      text: '{}',
      headers: { 'content-type': 'application/json' },
    });
  });

  it.each(['', '{}'])('200: the body %j counts as none', async (body) => {
    expect((await attempt({ body, headers: [['content-type', 'application/json']] })).status).toBe(200);
  });

  const path = () => deletionPath(organization);
  const by = (sub: string) => ({ token: { sub }, action: { sub } });
  const tampered = async () => withOtherClaims(await tokens.accessToken(organization));

  it.each<[status: number, code: string, what: string, difference: () => Differences | Promise<Differences>]>(
    [
      [401, 'token_missing', 'no Authorization header', () => ({ token: null })],
      [401, 'token_malformed', 'two headers', () => ({ headers: [['authorization', 'Bearer x']] })],
      [401, 'token_signature_invalid', 'other claims', async () => ({ token: await tampered() })],
      [401, 'token_expired', 'an old token', () => ({ token: { nbf: 1, iat: 1, exp: seconds() - 60 } })],
      [401, 'token_not_yet_valid', 'a token of tomorrow', () => ({ token: tomorrow })],
      [401, 'token_wrong_region', 'another issuer', () => ({ token: { iss: 'https://other.invalid' } })],
      [400, 'invalid_user_group_id', 'an encoded slash', () => ({ path: `${path()}%2F` })],
      [400, 'query_not_allowed', 'a name without a value', () => ({ path: `${path()}?x` })],
      [400, 'body_not_allowed', 'a body', () => ({ body: '{"force":true}' })],
      [403, 'caller_kind_not_allowed', 'an end user', () => ({ token: { kind: 'EndUser' } })],
      [403, 'user_action_missing', 'no user action', () => ({ action: null })],
      [403, 'user_action_invalid', 'no JWT', () => ({ action: 'x' })],
      [403, 'user_action_expired', 'an old one', () => ({ action: { iat: 1, exp: seconds() - 60 } })],
      [403, 'user_action_mismatch', 'another path', () => ({ action: { htp: '/auth/user-groups/ug-1' } })],
      [403, 'permission_missing', 'a hidden end user', () => by(organization.endUserId)],
      [404, 'route_not_found', 'another path', () => ({ path: '/auth/user-groups' })],
      [404, 'route_not_found', 'another method', () => ({ method: 'POST' })],
    ],
  )('%i %s: %s, and the group stays', async (status, code, _, difference) => {
    expect(await attempt(await difference())).toMatchObject({
      status,
      body: { code, requestId: expect.stringMatching(/./) },
    });
    await isStillThere();
  });

  it('401 token_malformed: two headers, even when the decision on the last one is cached', async () => {
    const token = await tokens.accessToken(organization);
    const two = { token: 'x', headers: [['authorization', `Bearer ${token}`]] } as const;
    const malformed = { status: 401, body: { code: 'token_malformed' } };
    expect(await attempt(two)).toMatchObject(malformed);
    expect(await attempt({ token, action: null })).toMatchObject({ body: { code: 'user_action_missing' } });
    expect(await attempt(two)).toMatchObject(malformed);
    expect(await attempt({ token })).toMatchObject({ status: 200 });
  });

  it("404 user_group_not_found: another organization's group is indistinguishable from a missing one", async () => {
    const other = await seed();
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
    expect((await sendPatiently(urlOf(name), await dueDeletion(tokens, other))).status).toBe(200);
  });

  it('tokens and groups are unknown in every other environment', async () => {
    const ours = await walletDeletion(local, name, organization);
    for (const { name: other } of environments.filter((row) => row.name !== name)) {
      expect(await sendPatiently(urlOf(other), ours)).toMatchObject({
        status: 401,
        body: { code: 'token_wrong_region' },
      });
      const asked = { ...(await seed(other)), userGroupId: organization.userGroupId };
      const theirs = await walletDeletion(local, other, asked);
      expect(await sendPatiently(urlOf(other), theirs)).toMatchObject({
        status: 404,
        body: { code: 'user_group_not_found' },
      });
    }
    expect((await sendPatiently(urlOf(name), ours)).status).toBe(200);
  }, 60_000);

  it('returns the headers of the webhook origins for HEAD as for GET', async () => {
    const [get, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => fetch(`${urlOf(name)}/webhook-origins`, { method })),
    );
    for (const header of ['content-type', 'cache-control', 'etag']) {
      expect(head?.headers.get(header)).toBe(get?.headers.get(header) ?? 'missing');
    }
    expect([head?.status, await head?.text()]).toEqual([200, '']);
  });

  it('429 too_many_requests: a flood is throttled, and the service responds afterwards', async () => {
    // More than the burst plus three seconds of the rate.
    const path = '/webhook-origins';
    const answers = await flood(urlOf(name), path, throttle.burst + 3 * throttle.requestsPerSecond);
    const throttled = answers.find(({ status }) => status === 429);
    if (!throttled) throw new Error(`None of ${answers.length} requests at once was throttled`);
    expectDocumented({ method: 'GET', path, ...throttled });
    expect(JSON.parse(throttled.body)).toMatchObject({ code: 'too_many_requests' });
    await isStillThere();
  });
});

/** Requests pipelined on one connection: faster than the throttle even on a slow machine. */
async function flood(baseUrl: string, path: string, count: number) {
  const { hostname, port, host } = new URL(baseUrl);
  const request = (more = '') => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;
  const socket = connect(Number(port), hostname);
  socket.write(request().repeat(count - 1) + request('Connection: close\r\n'));
  const responses = (await text(socket)).split(/(?=HTTP\/1\.1 \d{3} )/);
  return responses.map((response) => {
    const [head = '', body = ''] = response.split('\r\n\r\n');
    const [, status] = head.split(' ');
    return { status: Number(status), contentType: /^content-type: (.*)$/im.exec(head)?.[1], body };
  });
}

function withOtherClaims(token: string): string {
  const [header, claims = '', signature] = token.split('.');
  const decoded = JSON.parse(Buffer.from(claims, 'base64url').toString());
  const changed = JSON.stringify({ ...decoded, sub: newId('us'), jti: randomUUID() });
  return `${header}.${Buffer.from(changed).toString('base64url')}.${signature}`;
}
