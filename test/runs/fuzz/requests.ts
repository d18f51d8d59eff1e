import fc from 'fast-check';
import type { TokenMaker, WireRequest } from '../../support/api';
import type { Organization } from '../../support/organization';

/** A token with these claims, whose text `edit` then changes. */
interface Credential {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly edit?: (token: string) => string;
}

/** Replaces a valid part of a request; undefined for none. */
type Mistake<T> = { readonly wrong: string; readonly value: T } | undefined;

const wrong = <T>(name: string, value: T) => ({ wrong: name, value });

/** In a third of the cases, so that most requests have only one or two. */
const sometimes = <T>(...mistakes: readonly fc.Arbitrary<Mistake<T>>[]): fc.Arbitrary<Mistake<T>> =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.oneof(...mistakes) });

/** Characters that may stand in a request line. */
const urlText = fc.stringMatching(/^[\x21-\x22\x24-\x3e\x40-\x7e]{1,40}$/);
const headerText = fc.stringMatching(/^[\x21-\x7e]([\x20-\x7e]{0,60}[\x21-\x7e])?$/);

const replaceAt = (text: string, index: number, piece: string) => {
  const at = index % text.length;
  return text.slice(0, at) + piece + text.slice(at + 1);
};
const idStart = '/auth/user-groups/ug-'.length;

const path = sometimes<(path: string) => string>(
  fc
    .stringMatching(/^ug-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{16}$/)
    .map((id) => wrong('another group', () => `/auth/user-groups/${id}`)),
  fc
    .tuple(fc.nat(), fc.constantFrom('A', '_', '%00', '%2F', '%20', '..', '%C3%A9', '%0a', '/x', '/..'))
    .map(([at, piece]) => {
      const edit = (path: string) => path.slice(0, idStart) + replaceAt(path.slice(idStart), at, piece);
      return wrong(`the id with ${piece}`, edit);
    }),
  urlText
    // Separators alone name no parameter.
    .filter((text) => /[^&;]/.test(text))
    .map((text) => wrong(`a query: ${text}`, (path) => `${path}?${text}`)),
  urlText.map((text) => wrong(`another path: /${text}`, () => `/${text}`)),
);

const method = sometimes<string>(
  fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'OPTIONS', 'PROPFIND').map((name) => wrong(name, name)),
);

const body = sometimes<string>(
  fc
    .oneof(fc.json(), fc.string({ minLength: 1, maxLength: 200 }))
    .filter((text) => text !== '{}')
    .map((text) => wrong('a body', text)),
);

/** Replaces characters that are invalid in a header by one that is invalid in a token. */
const flipBit = (at: number, bit: number) => (token: string) => {
  const changed = String.fromCharCode(token.charCodeAt(at % token.length) ^ (1 << bit));
  return replaceAt(token, at, /[\x21-\x7e]/.test(changed) ? changed : '!');
};

const credential = (...claims: readonly string[]) =>
  sometimes<Credential | undefined>(
    fc.constant(wrong('no token', undefined)),
    fc.tuple(fc.nat(), fc.nat(5)).map(([at, bit]) => wrong('one bit changed', { edit: flipBit(at, bit) })),
    headerText.map((text) => wrong('not a token', { edit: () => text })),
    fc
      .tuple(
        fc.constantFrom(...claims, 'iss', 'aud', 'sub', 'org', 'iat', 'exp'),
        fc.jsonValue({ maxDepth: 1 }),
      )
      // An integer may be a valid time.
      .filter(([name, value]) => !(['iat', 'nbf', 'exp'].includes(name) && Number.isInteger(value)))
      .map(([name, value]) => wrong(`${name}: ${JSON.stringify(value)}`, { claims: { [name]: value } })),
  );

/** A valid deletion, changed in some places or in none. */
export const generatedRequest = fc.record({
  mistakes: fc.record({
    path,
    method,
    body,
    token: credential('kind', 'nbf'),
    action: credential('htm', 'htp', 'bh'),
  }),
  // The gateway ignores a slash at the end, and a deletion an empty body.
  slash: fc.constantFrom('', '/'),
  emptyBody: fc.constantFrom(undefined, '', '{}'),
});

export type GeneratedRequest = typeof generatedRequest extends fc.Arbitrary<infer Request> ? Request : never;

/** The mistakes; empty for a valid deletion. */
export const describeRequest = ({ mistakes }: GeneratedRequest): string =>
  Object.values(mistakes)
    .flatMap((mistake) => mistake?.wrong ?? [])
    .join('; ');

/** The request as sent on the wire, for a group of the organization. */
export async function toWire(
  { mistakes, slash, emptyBody }: GeneratedRequest,
  organization: Organization,
  tokens: TokenMaker,
): Promise<WireRequest> {
  const { path, method, token, action } = mistakes;
  const sign = async (header: string, scheme: string, kind: keyof TokenMaker, mistake: typeof token) => {
    const credential: Credential | undefined = mistake ? mistake.value : {};
    if (!credential) return [];
    const { claims, edit = (text) => text } = credential;
    return [[header, scheme + edit(await tokens[kind](organization, claims))] as const];
  };
  const own = `/auth/user-groups/${organization.userGroupId}`;
  const body = mistakes.body?.value ?? emptyBody;
  return {
    method: method?.value ?? 'DELETE',
    path: path ? path.value(own) : own + slash,
    ...(body !== undefined && { body }),
    headers: [
      ...(await sign('authorization', 'Bearer ', 'accessToken', token)),
      ...(await sign('x-svc-useraction', '', 'userAction', action)),
    ],
  };
}
