import fc from 'fast-check';
import type { TokenMaker, WireRequest } from '../../support/api';
import type { Organization } from '../../support/organization';

type Json = Readonly<Record<string, unknown>>;

/** One change to a valid deletion. */
interface Change<T> {
  /** For the report of a failure; undefined when the request stays valid. */
  readonly wrong?: string;
  readonly value: T;
}

/** A credential signed with these claims and header; `edit` then changes the text. Undefined for none. */
type Credential =
  | { readonly claims?: Json; readonly header?: Json; readonly edit?: (token: string) => string }
  | undefined;

export interface GeneratedRequest {
  /** Changes the path of the group. */
  readonly path: Change<(path: string) => string>;
  readonly method: Change<string>;
  readonly body: Change<string | undefined>;
  readonly token: Change<Credential>;
  readonly action: Change<Credential>;
  readonly headers: readonly (readonly [string, string])[];
}

const right = <T>(value: T): fc.Arbitrary<Change<T>> => fc.constant({ value });
const wrong = <T>(name: string, value: T): Change<T> => ({ wrong: name, value });

/** The first in half of the cases, so that most requests have only one or two mistakes. */
const mostly = <T>(usual: fc.Arbitrary<T>, ...others: readonly fc.Arbitrary<T>[]): fc.Arbitrary<T> =>
  fc.oneof(
    { weight: others.length * 2, arbitrary: usual },
    ...others.map((arbitrary) => ({ weight: 1, arbitrary })),
  );

/** Characters that may stand in a request line. */
const urlText = fc.stringMatching(/^[\x21-\x22\x24-\x3e\x40-\x7e]{1,40}$/);
const headerText = fc.stringMatching(/^[\x21-\x7e]([\x20-\x7e]{0,60}[\x21-\x7e])?$/);

const replaceAt = (text: string, index: number, piece: string) => {
  const at = index % text.length;
  return text.slice(0, at) + piece + text.slice(at + 1);
};
const append = (end: string) => (path: string) => path + end;
const idStart = '/auth/user-groups/ug-'.length;

const path = mostly<GeneratedRequest['path']>(
  right((same) => same),
  // The gateway ignores a slash at the end.
  right(append('/')),
  fc
    .stringMatching(/^ug-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{16}$/)
    .map((id) => wrong('another group', () => `/auth/user-groups/${id}`)),
  urlText.map((text) => wrong(`a longer id: ${text}`, append(encodeURIComponent(text)))),
  fc
    .tuple(fc.nat(), fc.constantFrom('A', '_', '%00', '%2F', '%20', '..', '%C3%A9', '%0a'))
    .map(([at, piece]) =>
      wrong(`the id with ${piece}`, (same: string) => {
        return same.slice(0, idStart) + replaceAt(same.slice(idStart), at, piece);
      }),
    ),
  urlText
    // Separators alone name no parameter.
    .filter((text) => /[^&;]/.test(text))
    .map((text) => wrong(`a query: ${text}`, append(`?${text}`))),
  fc.constantFrom('/x', '/%2e%2e', '/..').map((end) => wrong(`the path with ${end}`, append(end))),
  urlText.map((text) => wrong(`another path: /${text}`, () => `/${text}`)),
);

const method = mostly<GeneratedRequest['method']>(
  right('DELETE'),
  fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'OPTIONS', 'PROPFIND').map((name) => wrong(name, name)),
);

const body = mostly<GeneratedRequest['body']>(
  fc.constantFrom(undefined, '', '{}').map((value) => ({ value })),
  fc
    .oneof(fc.json(), fc.string({ minLength: 1, maxLength: 200 }))
    .filter((text) => text !== '{}')
    .map((text) => wrong('a body', text)),
);

const wrongValue = fc.oneof(
  fc.constant(null),
  fc.integer(),
  fc.double(),
  fc.string(),
  fc.boolean(),
  fc.array(fc.string()),
  fc.object({ maxDepth: 1 }),
);

/** Replaces characters that are invalid in a header by one that is invalid in a token. */
const flipBit = (at: number, bit: number) => (token: string) => {
  const changed = String.fromCharCode(token.charCodeAt(at % token.length) ^ (1 << bit));
  return replaceAt(token, at, /[\x21-\x7e]/.test(changed) ? changed : '!');
};

const credential = (...claimNames: readonly string[]): fc.Arbitrary<Change<Credential>> =>
  mostly<Change<Credential>>(
    right<Credential>({}),
    fc.constant(wrong<Credential>('none', undefined)),
    fc.tuple(fc.nat(), fc.nat(5)).map(([at, bit]) => wrong('one bit changed', { edit: flipBit(at, bit) })),
    fc
      .tuple(fc.constantFrom(...claimNames, 'iat', 'exp'), wrongValue)
      // An integer may be a valid time.
      .filter(([name, value]) => !(['iat', 'nbf', 'exp'].includes(name) && Number.isInteger(value)))
      .map(([name, value]) => wrong(`${name}: ${JSON.stringify(value)}`, { claims: { [name]: value } })),
    fc
      .tuple(fc.constantFrom('alg', 'typ', 'kid', 'jku', 'jwk', 'x5u', 'crit', 'cty'), wrongValue)
      .map(([name, value]) =>
        wrong(`header ${name}: ${JSON.stringify(value)}`, { header: { [name]: value } }),
      ),
    headerText.map((text) => wrong('not a token', { edit: () => text })),
    fc
      .nat()
      .map((cut) =>
        wrong('cut off', { edit: (token: string) => token.slice(0, cut % (token.length - 1) || 1) }),
      ),
  );

const header = fc.tuple(
  fc.stringMatching(/^x-[a-z]{1,12}$/).filter((name) => name !== 'x-svc-useraction'),
  headerText,
);

/** A valid deletion, changed in some places or in none. */
export const generatedRequest: fc.Arbitrary<GeneratedRequest> = fc
  .record<GeneratedRequest>({
    ...{ path, method, body },
    token: credential('iss', 'aud', 'sub', 'org', 'kind', 'nbf'),
    action: credential('iss', 'aud', 'sub', 'org', 'htm', 'htp', 'bh'),
    headers: fc.array(header, { maxLength: 3 }),
  })
  .map((request) => Object.assign(request, { [fc.toStringMethod]: () => `(${describeRequest(request)})` }));

/** The mistakes; empty for a valid deletion. */
export const describeRequest = ({ path, method, body, token, action }: GeneratedRequest): string =>
  [path, method, body, token, action].flatMap((change) => change.wrong ?? []).join('; ');

/** The request as sent on the wire, for a group of the organization. */
export async function toWire(
  { path, method, body, token, action, headers }: GeneratedRequest,
  organization: Organization,
  tokens: TokenMaker,
): Promise<WireRequest> {
  const sign = async (header: string, scheme: string, kind: keyof TokenMaker, credential: Credential) => {
    if (!credential) return [];
    const { claims, header: tokenHeader, edit = (token: string) => token } = credential;
    return [[header, scheme + edit(await tokens[kind](organization, claims, tokenHeader))] as const];
  };
  return {
    method: method.value,
    path: path.value(`/auth/user-groups/${organization.userGroupId}`),
    ...(body.value !== undefined && { body: body.value }),
    headers: [
      ...headers,
      ...(await sign('authorization', 'Bearer ', 'accessToken', token.value)),
      ...(await sign('x-svc-useraction', '', 'userAction', action.value)),
    ],
  };
}
