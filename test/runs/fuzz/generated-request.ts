import fc from 'fast-check';
import type { TokenMaker, WireRequest } from '../../support/api';
import type { Organization } from '../../support/organization';

/**
 * What is done to a deletion that is due: each change has a name, and only neutral ones leave the deletion due. It is
 * data alone: one that was kept as JSON makes the same request again, after any change of the generator.
 */
export interface GeneratedRequest {
  readonly path: Change<PathEdit>;
  readonly method: Change<string>;
  readonly body: Change<string | undefined>;
  readonly token: Change<Credential>;
  readonly action: Change<Credential>;
  readonly extraHeaders: readonly (readonly [string, string])[];
}

interface Change<T> {
  readonly name: string;
  /** Whether the request is still due. */
  readonly neutral: boolean;
  readonly value: T;
}

type Json = Readonly<Record<string, unknown>>;

/** Another path, or text at the end of the right one, or in place of a character of its id. */
type PathEdit =
  | { readonly instead: string }
  | { readonly append: string }
  | { readonly at: number; readonly piece: string };

/** Another text, or the token with one bit changed, or without its end. */
type TextEdit =
  | { readonly instead: string }
  | { readonly at: number; readonly bit: number }
  | { readonly cut: number };

/** A credential that is signed with these changes, and then changed as text; null when there is none. */
type Credential = { readonly claims: Json; readonly header: Json; readonly text?: TextEdit } | null;

const neutral = <T>(name: string, value: T) => fc.constant({ name, neutral: true, value });
const breaking = <T>(name: string, value: T): Change<T> => ({ name, neutral: false, value });

/** Mostly nothing, so that most requests break in one or two places only. */
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

const pathChange = mostly<GeneratedRequest['path']>(
  neutral<PathEdit>('the path as it is', { append: '' }),
  // The gateway passes over slashes at the end.
  neutral<PathEdit>('a slash at the end', { append: '/' }),
  fc
    .stringMatching(/^ug-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{16}$/)
    .map((id) => breaking('another group', { instead: `/auth/user-groups/${id}` })),
  urlText.map((text) => breaking(`more of the id: ${text}`, { append: encodeURIComponent(text) })),
  fc
    .tuple(fc.nat(), fc.constantFrom('A', '_', '%00', '%2F', '%20', '..', '%C3%A9', '%0a'))
    .map(([at, piece]) => breaking(`the id with ${piece}`, { at, piece })),
  urlText
    // Separators alone name no parameter.
    .filter((text) => /[^&;]/.test(text))
    .map((text) => breaking(`a query: ${text}`, { append: `?${text}` })),
  fc.constantFrom('/x', '/%2e%2e', '/..').map((end) => breaking(`the path with ${end}`, { append: end })),
  urlText.map((text) => breaking(`another path: /${text}`, { instead: `/${text}` })),
);

function editPath(path: string, edit: PathEdit): string {
  if ('instead' in edit) return edit.instead;
  if ('append' in edit) return path + edit.append;
  const start = '/auth/user-groups/ug-'.length;
  return path.slice(0, start) + replaceAt(path.slice(start), edit.at, edit.piece);
}

const methodChange = mostly<GeneratedRequest['method']>(
  neutral('DELETE', 'DELETE'),
  fc
    .constantFrom('GET', 'POST', 'PUT', 'PATCH', 'OPTIONS', 'PROPFIND')
    .map((method) => breaking(method, method)),
);

const bodyChange = mostly<GeneratedRequest['body']>(
  fc.constantFrom(undefined, '', '{}').map((value) => ({ name: `body ${value}`, neutral: true, value })),
  fc
    .oneof(fc.json(), fc.string({ minLength: 1, maxLength: 200 }))
    .filter((text) => text !== '{}')
    .map((text) => breaking('a body', text)),
);

const signed = (claims: Json = {}, header: Json = {}): Credential => ({ claims, header });
const edited = (text: TextEdit): Credential => ({ claims: {}, header: {}, text });

export function editText(token: string, edit: TextEdit): string {
  if ('instead' in edit) return edit.instead;
  if ('cut' in edit) return token.slice(0, edit.cut % (token.length - 1) || 1);
  const changed = String.fromCharCode(token.charCodeAt(edit.at % token.length) ^ (1 << edit.bit));
  // What cannot stand in a header becomes what stands in no token.
  return replaceAt(token, edit.at, /[\x21-\x7e]/.test(changed) ? changed : '!');
}

const wrongValue = fc.oneof(
  fc.constant(null),
  fc.integer(),
  fc.double(),
  fc.string(),
  fc.boolean(),
  fc.array(fc.string()),
  fc.object({ maxDepth: 1 }),
);

const timeNames = ['iat', 'nbf', 'exp'];

/** Ways in which a token of any kind can be wrong. */
const wrongCredential = (claimNames: readonly string[]): fc.Arbitrary<Change<Credential>> =>
  fc.oneof(
    fc.constant(breaking<Credential>('none', null)),
    fc
      .tuple(fc.nat(), fc.nat(5))
      .map(([at, bit]) => breaking<Credential>('one bit changed', edited({ at, bit }))),
    fc
      .tuple(fc.constantFrom(...claimNames), wrongValue)
      // A whole number may be a good time.
      .filter(([name, value]) => !(timeNames.includes(name) && Number.isInteger(value)))
      .map(([name, value]) => breaking(`${name}: ${JSON.stringify(value)}`, signed({ [name]: value }))),
    fc
      .tuple(fc.constantFrom('alg', 'typ', 'kid'), wrongValue)
      .map(([name, value]) =>
        breaking(`header ${name}: ${JSON.stringify(value)}`, signed({}, { [name]: value })),
      ),
    fc
      .tuple(fc.constantFrom('jku', 'jwk', 'x5u', 'crit', 'cty'), wrongValue)
      .map(([name, value]) => breaking(`header ${name}`, signed({}, { [name]: value }))),
    headerText.map((text) => breaking('text that is no token', edited({ instead: text }))),
    fc.nat().map((cut) => breaking('cut off', edited({ cut }))),
  );

const tokenChange = mostly<GeneratedRequest['token']>(
  neutral('a good token', signed()),
  wrongCredential(['iss', 'aud', 'sub', 'org', 'kind', 'iat', 'nbf', 'exp']),
);

const actionChange = mostly<GeneratedRequest['action']>(
  neutral('a good user action', signed()),
  wrongCredential(['iss', 'aud', 'sub', 'org', 'htm', 'htp', 'bh', 'iat', 'exp']),
);

const extraHeader = fc.tuple(
  fc.stringMatching(/^x-[a-z]{1,12}$/).filter((name) => name !== 'x-svc-useraction'),
  headerText,
);

/** A deletion that is due, changed in some places or in none. A failing one is printed as its changes. */
export const generatedRequest: fc.Arbitrary<GeneratedRequest> = fc
  .record<GeneratedRequest>({
    path: pathChange,
    method: methodChange,
    body: bodyChange,
    token: tokenChange,
    action: actionChange,
    extraHeaders: fc.array(extraHeader, { maxLength: 3 }),
  })
  .map((request) => Object.assign(request, { [fc.toStringMethod]: () => `(${describeRequest(request)})` }));

const changesOf = ({ path, method, body, token, action }: GeneratedRequest) => [
  path,
  method,
  body,
  token,
  action,
];

/** Whether the answer must be 200. */
export const isDue = (request: GeneratedRequest): boolean =>
  changesOf(request).every((change) => change.neutral);

/** What was changed, for the message of a failure. */
export const describeRequest = (request: GeneratedRequest): string =>
  changesOf(request)
    .filter((change) => !change.neutral)
    .map(({ name }) => name)
    .join('; ');

/** The request as it goes over the wire, for a group of the organization. */
export async function toWire(
  request: GeneratedRequest,
  organization: Organization,
  tokens: TokenMaker,
): Promise<WireRequest> {
  const make = async (
    credential: Credential,
    sign: (organization: Organization, claims: Json, header: Json) => Promise<string>,
  ) => {
    if (!credential) return undefined;
    const token = await sign(organization, credential.claims, credential.header);
    return credential.text ? editText(token, credential.text) : token;
  };
  const token = await make(request.token.value, tokens.accessToken);
  const action = await make(request.action.value, tokens.userAction);
  return {
    method: request.method.value,
    path: editPath(`/auth/user-groups/${organization.userGroupId}`, request.path.value),
    ...(request.body.value !== undefined && { body: request.body.value }),
    headers: [
      ...request.extraHeaders,
      ...(token === undefined ? [] : ([['authorization', `Bearer ${token}`]] as const)),
      ...(action === undefined ? [] : ([['x-svc-useraction', action]] as const)),
    ],
  };
}
