import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020';
import { parse } from 'yaml';

interface ObservedResponse {
  readonly method: string;
  /** As sent; a query is ignored. */
  readonly path: string;
  readonly status: number;
  readonly contentType: string | undefined;
  /** As received, before parsing. */
  readonly body: string;
}

interface Operation {
  readonly operationId: string;
  readonly security: readonly Record<string, readonly string[]>[];
  readonly responses: Readonly<Record<string, Reference | Response>>;
}

interface Reference {
  readonly $ref: string;
}

interface Response {
  readonly headers?: Readonly<Record<string, unknown>>;
  /** Absent: the body is empty. */
  // biome-ignore lint/suspicious/noExplicitAny: a schema
  readonly content?: Readonly<Record<string, any>>;
}

export const openApiFile = join(__dirname, '../../lib/openapi.yaml');

/** The public contract, parsed, with unresolved references. */
export const openApi = parse(readFileSync(openApiFile, 'utf8'));

/** Responses to any other method and path; 400 for an invalid path. */
const unknownRoute: Operation['responses'] = {
  '400': { $ref: '#/components/responses/MalformedRequest' },
  '404': { $ref: '#/components/responses/RouteNotFound' },
};

const ajv = new Ajv2020({
  strict: false,
  validateSchema: false,
  formats: {
    date: /^\d{4}-\d{2}-\d{2}$/,
    // RFC 3339, section 5.6, with the letters that we write.
    'date-time': (text) =>
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) &&
      !Number.isNaN(Date.parse(text)),
  },
}).addSchema(openApi, 'openapi');

/** @throws Error with what does not match the schema at these names in the document */
function validate(schema: readonly string[], value: unknown, what: string): void {
  const pointer = schema.map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1')));
  const matches = ajv.getSchema(`openapi#/${pointer.join('/')}`);
  if (!matches?.(value)) throw new Error(`${what}\nis not as documented: ${ajv.errorsText(matches?.errors)}`);
}

/**
 * Validates a response against the document: operation, status, media type and body. An undocumented method
 * or path must get `route_not_found`.
 *
 * @throws Error with what is not documented
 */
export function expectDocumented({ method, path, status, contentType, body }: ObservedResponse): void {
  const what = `${method} ${path}: ${status} ${contentType} ${body}`;
  const route = (path.split('?')[0] ?? '').replace(/\/+$/, '');
  const known = operations().find((each) => each.method === method && template(each.path).test(route));
  const responses = known?.operation.responses ?? unknownRoute;
  const entry = responses[String(status)];
  if (!entry) throw new Error(`${what}\nis no documented status: ${Object.keys(responses).join(', ')}`);
  const { content } = resolve(entry);
  if (!content) {
    if (body !== '') throw new Error(`${what}\nhas a body, and none is documented`);
    return;
  }
  const mediaType = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (!(mediaType in content))
    throw new Error(`${what}\nis not of a documented type: ${Object.keys(content).join(', ')}`);
  const schema =
    '$ref' in entry
      ? namesIn(entry)
      : ['paths', known?.path ?? '', method.toLowerCase(), 'responses', String(status)];
  const value = mediaType.endsWith('json') ? parseJson(body, what) : body;
  validate([...schema, 'content', mediaType, 'schema'], value, what);
}

/** Validates a received delivery against the document's `webhooks`. @throws Error with what is not documented */
export function expectDocumentedDelivery(headers: IncomingHttpHeaders, body: string): void {
  const post = ['webhooks', 'event', 'post'];
  const parameters: readonly { readonly name: string }[] = openApi.webhooks.event.post.parameters;
  const names = parameters.map(({ name }) => name.toLowerCase());
  names.forEach((name, index) => {
    validate([...post, 'parameters', String(index), 'schema'], headers[name], `${name}: ${headers[name]}`);
  });
  const others = Object.keys(headers).filter((name) => /webhook|svc/.test(name) && !names.includes(name));
  if (others.length > 0) throw new Error(`${others.join(', ')} is not documented`);
  const mediaType = headers['content-type'] ?? '';
  validate([...post, 'requestBody', 'content', mediaType, 'schema'], parseJson(body, 'The body'), body);
}

/** The operations of the document, each with its method in upper case and its path as a template. */
export function operations(): { method: string; path: string; operation: Operation }[] {
  return Object.entries<Record<string, Operation>>(openApi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/** Every `status code` that an operation documents: `404 route_not_found`. */
export function documentedProblems({ responses }: Operation): string[] {
  return Object.values(responses).flatMap((entry) => {
    const [, restriction] = resolve(entry).content?.['application/problem+json']?.schema.allOf ?? [];
    const { status, code } = restriction?.properties ?? {};
    return (code?.enum ?? []).map((name: string) => `${status.const} ${name}`);
  });
}

const template = (path: string) => new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`);

const namesIn = ({ $ref }: Reference) => $ref.split('/').slice(1);

const resolve = (entry: Reference | Response): Response =>
  '$ref' in entry ? namesIn(entry).reduce((node, name) => node[name], openApi) : entry;

function parseJson(body: string, what: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new Error(`${what}\nis not JSON`, { cause });
  }
}
