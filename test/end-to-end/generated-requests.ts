import fc from 'fast-check';
import type { Environment } from '../../lib/environment/schema';
import { openTokenMaker, sendPatiently, type TokenMaker, type WireRequest } from '../support/api';
import type { LocalEnvironment } from '../support/local-environment';
import type { Organization } from '../support/organization';

/** A token with these claims, whose text `edit` then changes; without text there is no header. */
interface Credential {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly edit?: (token: string) => string;
}

/** In a third of the cases, so that most requests have only one or two mistakes. */
const sometimes = <T>(...mistakes: readonly fc.Arbitrary<T>[]) =>
  fc.option(fc.oneof(...mistakes), { freq: 2 });

/** Characters that may stand in a request line. */
const urlText = fc.stringMatching(/^[\x21-\x22\x24-\x3e\x40-\x7e]{1,40}$/);
const headerText = fc.stringMatching(/^[\x21-\x7e]([\x20-\x7e]{0,60}[\x21-\x7e])?$/);

const replaceAt = (text: string, index: number, piece: string) => {
  const at = index % text.length;
  return text.slice(0, at) + piece + text.slice(at + 1);
};
const prefix = '/auth/user-groups/ug-';

const path = sometimes<(own: string) => string>(
  fc.stringMatching(/^[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{16}$/).map((id) => () => prefix + id),
  fc.tuple(fc.nat(), fc.constantFrom('A', '_', '%00', '%2F', '%20', '..', '%C3%A9', '%0a')).map(
    ([at, piece]) =>
      (own) =>
        prefix + replaceAt(own.slice(prefix.length), at, piece),
  ),
  // Separators alone name no parameter.
  urlText.filter((text) => /[^&;]/.test(text)).map((text) => (own) => `${own}?${text}`),
  fc.constantFrom('a', '/x', '/%2e%2e', '/..').map((end) => (own) => own + end),
  urlText.map((text) => () => `/${text}`),
);

/** Replaces characters that are invalid in a header by one that is invalid in a token. */
const flipBit = (at: number, bit: number) => (token: string) => {
  const changed = String.fromCharCode(token.charCodeAt(at % token.length) ^ (1 << bit));
  return replaceAt(token, at, /[\x21-\x7e]/.test(changed) ? changed : '!');
};

const credential = (...claims: readonly string[]) =>
  sometimes<Credential>(
    fc.constant({ edit: () => '' }),
    fc.tuple(fc.nat(), fc.nat(5)).map(([at, bit]) => ({ edit: flipBit(at, bit) })),
    headerText.map((text) => ({ edit: () => text })),
    fc
      .tuple(
        fc.constantFrom(...claims, 'iss', 'aud', 'sub', 'org', 'iat', 'exp'),
        fc.jsonValue({ maxDepth: 1 }),
      )
      // An integer may be a valid time.
      .filter(([name, value]) => !(['iat', 'nbf', 'exp'].includes(name) && Number.isInteger(value)))
      .map(([name, value]) => ({ claims: { [name]: value } })),
  );

/** A valid deletion, changed in some places or in none. */
const generatedRequest = fc.record({
  mistakes: fc.record({
    path,
    method: sometimes(fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'OPTIONS', 'PROPFIND')),
    body: sometimes(fc.oneof(fc.json(), fc.string({ minLength: 1 })).filter((text) => text !== '{}')),
    token: credential('kind', 'nbf'),
    action: credential('htm', 'htp', 'bh'),
  }),
  // The gateway ignores a slash at the end, and a deletion an empty body.
  slash: fc.constantFrom('', '/'),
  emptyBody: fc.constantFrom(undefined, '', '{}'),
});

type GeneratedRequest = typeof generatedRequest extends fc.Arbitrary<infer Request> ? Request : never;

/** The request as sent on the wire, for a group of the organization. */
async function toWire(
  { mistakes: { path, method, body, token, action }, slash, emptyBody }: GeneratedRequest,
  organization: Organization,
  tokens: TokenMaker,
): Promise<WireRequest> {
  const sign = async (kind: keyof TokenMaker, { claims, edit = (text) => text }: Credential) =>
    edit(await tokens[kind](organization, claims));
  const accessToken = await sign('accessToken', token ?? {});
  const userAction = await sign('userAction', action ?? {});
  const own = `/auth/user-groups/${organization.userGroupId}`;
  const text = body ?? emptyBody;
  return {
    method: method ?? 'DELETE',
    path: path ? path(own) : own + slash,
    ...(text !== undefined && { body: text }),
    headers: [
      ...(accessToken ? [['authorization', `Bearer ${accessToken}`] as const] : []),
      ...(userAction ? [['x-svc-useraction', userAction] as const] : []),
    ],
  };
}

/** Requests sent at once, each for another organization. */
const width = 20;

/**
 * Sends this many generated requests to a local environment: no response is a 5xx, only valid deletions get 200, every
 * response is documented, and a successful request is refused as a replay when resent.
 *
 * @returns the number of responses by status
 * @throws Error with the request that failed, and the seed
 */
export async function checkRequests(
  local: LocalEnvironment,
  { name, tokenIssuer }: Pick<Environment, 'name' | 'tokenIssuer'>,
  count: number,
): Promise<Readonly<Record<number, number>>> {
  const baseUrl = local.outputs(name).ApiBaseUrl ?? '';
  const tokens = await openTokenMaker(local, name, tokenIssuer);
  const statuses: Record<number, number> = {};
  const organizations: (Organization | undefined)[] = [];

  async function check(request: GeneratedRequest, index: number): Promise<void> {
    const organization = organizations[index] ?? (await local.walletJson<Organization>(name, 'seed'));
    organizations[index] = organization;
    const wire = await toWire(request, organization, tokens);
    const { status, body } = await sendPatiently(baseUrl, wire);
    statuses[status] = (statuses[status] ?? 0) + 1;
    const isValid = Object.values(request.mistakes).every((mistake) => mistake === null);
    if (status >= 500 || (status === 200) !== isValid)
      throw new Error(`${status} ${body.code ?? ''} for ${JSON.stringify(wire)}`);
    if (status !== 200) return;
    organizations[index] = undefined;
    expect((await sendPatiently(baseUrl, wire)).body.code).toBe('user_action_replayed');
  }

  const batch = fc.array(generatedRequest, { minLength: width, maxLength: width });
  const property = fc.asyncProperty(batch, async (generated) => {
    const results = await Promise.allSettled(generated.map(check));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
  });
  const numRuns = Math.ceil(count / width);
  await fc.assert(property, { numRuns, endOnFailure: true, includeErrorInReport: true });
  return statuses;
}
