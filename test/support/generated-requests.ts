import fc from 'fast-check';
import { newId } from '../../lambda/shared/ids';
import type { TokenMaker, WireRequest } from './api';
import type { Organization } from './organization';

/** What is done to a deletion that is due. `changes` names it; none of them leaves the deletion due but the neutral ones. */
export interface GeneratedRequest {
  readonly path: Change<(path: string) => string>;
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

/** A credential that is signed with these changes, and then changed as text; undefined when there is none. */
type Credential =
  | { readonly claims: Json; readonly header: Json; readonly text: (token: string) => string }
  | undefined;

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
  neutral('the path as it is', (path: string) => path),
  // The gateway passes over slashes at the end.
  neutral('a slash at the end', (path: string) => `${path}/`),
  fc.constant(breaking('another group', () => `/auth/user-groups/${newId('ug')}`)),
  urlText.map((text) =>
    breaking(`more of the id: ${text}`, (path: string) => path + encodeURIComponent(text)),
  ),
  fc
    .tuple(fc.nat(), fc.constantFrom('A', '_', '%00', '%2F', '%20', '..', '%C3%A9', '%0a'))
    .map(([index, piece]) =>
      breaking(`the id with ${piece}`, (path: string) => {
        const start = '/auth/user-groups/ug-'.length;
        return path.slice(0, start) + replaceAt(path.slice(start), index, piece);
      }),
    ),
  urlText
    // Separators alone name no parameter.
    .filter((text) => /[^&;]/.test(text))
    .map((text) => breaking(`a query: ${text}`, (path: string) => `${path}?${text}`)),
  fc
    .constantFrom('/x', '/%2e%2e', '/..')
    .map((end) => breaking(`the path with ${end}`, (path: string) => path + end)),
  urlText.map((text) => breaking(`another path: /${text}`, () => `/${text}`)),
);

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

const signed = (claims: Json = {}, header: Json = {}, text = (token: string) => token): Credential => ({
  claims,
  header,
  text,
});

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

/** Ways in which a token can be wrong, whatever it is for. */
const wrongCredential = (claimNames: readonly string[]): fc.Arbitrary<Change<Credential>> =>
  fc.oneof(
    fc.constant(breaking<Credential>('none', undefined)),
    fc.tuple(fc.nat(), fc.nat(5)).map(([index, bit]) =>
      breaking(
        'one bit changed',
        signed({}, {}, (token) => {
          const changed = String.fromCharCode(token.charCodeAt(index % token.length) ^ (1 << bit));
          return replaceAt(token, index, /[\x21-\x7e]/.test(changed) ? changed : '.');
        }),
      ),
    ),
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
    headerText.map((text) =>
      breaking(
        'text that is no token',
        signed({}, {}, () => text),
      ),
    ),
    fc.nat().map((length) =>
      breaking(
        'cut off',
        signed({}, {}, (token) => token.slice(0, length % (token.length - 1) || 1)),
      ),
    ),
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
  ) => credential?.text(await sign(organization, credential.claims, credential.header));
  const token = await make(request.token.value, tokens.accessToken);
  const action = await make(request.action.value, tokens.userAction);
  return {
    method: request.method.value,
    path: request.path.value(`/auth/user-groups/${organization.userGroupId}`),
    ...(request.body.value !== undefined && { body: request.body.value }),
    headers: [
      ...request.extraHeaders,
      ...(token === undefined ? [] : ([['authorization', `Bearer ${token}`]] as const)),
      ...(action === undefined ? [] : ([['x-svc-useraction', action]] as const)),
    ],
  };
}
