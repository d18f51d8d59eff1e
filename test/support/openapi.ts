import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020';
import { parse } from 'yaml';
import { beginsWithDay } from '../../domain/time';
import type { Json } from './stacks';

export const openApiFile = join(__dirname, '../../lib/openapi.yaml');

/** The public contract, parsed, with unresolved references. */
export const openApi: Json = parse(readFileSync(openApiFile, 'utf8'));

const timeOfDay = /^T([01]\d|2[0-3])(:[0-5]\d){2}(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

const ajv = new Ajv2020({
  strict: false,
  validateSchema: false,
  formats: {
    date: (text: string) => text.length === 10 && beginsWithDay(text),
    // RFC 3339, section 5.6, with the letters that we write, without leap seconds, which JavaScript's dates do not have.
    'date-time': (text: string) => beginsWithDay(text) && timeOfDay.test(text.slice(10)),
  },
}).addSchema(openApi, 'openapi');

/** @throws Error with what does not match the schema at these names in the document */
export function validate(schema: readonly string[], value: unknown, what: string): void {
  const pointer = schema.map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1')));
  const matches = ajv.getSchema(`openapi#/${pointer.join('/')}`);
  if (!matches?.(value)) throw new Error(`${what}\nis not as documented: ${ajv.errorsText(matches?.errors)}`);
}

/** The operations of the document, each with its method in upper case and its path as a template. */
export const operations = (): readonly { method: string; path: string; operation: Json }[] =>
  Object.entries<Json>(openApi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

/** Responses to any other method and path; 400 for an invalid path. */
const unknownRoute: Json = {
  '400': { $ref: '#/components/responses/BadRequest' },
  '404': { $ref: '#/components/responses/NotFound' },
};

const namesIn = ({ $ref }: Json): string[] => $ref.split('/').slice(1);

const resolve = (response: Json): Json =>
  response.$ref ? namesIn(response).reduce((node, name) => node[name], openApi) : response;

/** Every response may have these; the contract does not say. */
const undocumentedHeaders = ['cache-control', 'content-type'];
/** Those of a deprecated environment, and of some responses to HEAD. */
const isOptional = (header: string, method: string) =>
  /^(deprecation|sunset)$/.test(header) || (method === 'HEAD' && header === 'retry-after');

/** What is wrong with the headers of a response: those that the document names anywhere, by lower-case name. */
function wrongHeaders(method: string, { headers: documented = {} }: Json, headers: Headers): string[] {
  const named = new Map(Object.entries<Json>(documented).map(([name, value]) => [name.toLowerCase(), value]));
  const everywhere = operations().flatMap(({ operation }) =>
    Object.values(operation.responses).flatMap((each) => Object.keys(resolve(each).headers ?? {})),
  );
  return [...new Set(everywhere.map((name) => name.toLowerCase()))].filter((name) => {
    const value = headers[name];
    if (value === undefined) return named.has(name) && !isOptional(name, method);
    if (!named.has(name)) return !undocumentedHeaders.includes(name);
    const { $ref } = named.get(name);
    return $ref && !ajv.getSchema(`openapi${$ref}/schema`)?.(value);
  });
}

/** By lower-case name. */
type Headers = Readonly<Record<string, unknown>>;
/** `path` as sent, whose query is ignored, `body` as received. */
type DocumentedResponse = Record<'method' | 'path' | 'body', string> & { status: number; headers: Headers };

/** An undocumented method or path must get `route_not_found`. @throws Error with what is not documented */
export function expectDocumented({ method, path, status, headers, body }: DocumentedResponse): void {
  const contentType = headers['content-type'] as string | undefined;
  const what = `${method} ${path}: ${status} ${contentType} ${body}`;
  const route = path.replace(/\?.*/, '').replace(/\/+$/, '');
  const known = operations().find(
    (each) => each.method === method && new RegExp(`^${each.path.replace(/\{.+?\}/g, '[^/]+')}$`).test(route),
  );
  const documented = (known?.operation.responses ?? unknownRoute)[status];
  if (!documented) throw new Error(`${what}\nis no documented status`);
  const { content } = resolve(documented);
  const wrong = wrongHeaders(method, resolve(documented), headers);
  if (wrong.length > 0) throw new Error(`${what}\nhas undocumented headers, or none: ${wrong.join(', ')}`);
  const mediaType = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (content ? !(mediaType in content) : body !== '') throw new Error(`${what}\nis of no documented type`);
  if (!content) return;
  const schema = documented.$ref
    ? namesIn(documented)
    : ['paths', known?.path ?? '', method.toLowerCase(), 'responses', `${status}`];
  const value = mediaType.endsWith('json') ? JSON.parse(body) : body;
  validate([...schema, 'content', mediaType, 'schema'], value, what);
}

/** @throws Error with what is not documented */
export function expectDocumentedDelivery(headers: IncomingHttpHeaders, body: string): void {
  const post = ['webhooks', 'event', 'post'];
  const names: string[] = openApi.webhooks.event.post.parameters.map(({ name }: Json) => name.toLowerCase());
  names.forEach((name, index) => {
    validate([...post, 'parameters', String(index), 'schema'], headers[name], `${name}: ${headers[name]}`);
  });
  const others = Object.keys(headers).filter((name) => /webhook|svc/.test(name) && !names.includes(name));
  if (others.length > 0) throw new Error(`${others.join(', ')} is not documented`);
  const mediaType = headers['content-type'] ?? '';
  validate([...post, 'requestBody', 'content', mediaType, 'schema'], JSON.parse(body), body);
}

/** Every `status code` that an operation documents: `404 route_not_found`. */
export const documentedProblems = (operation: Json): string[] =>
  Object.values(operation.responses).flatMap((response) => {
    const [, restriction] = resolve(response).content?.['application/problem+json']?.schema.allOf ?? [];
    const { status, code } = restriction?.properties ?? {};
    return (code?.enum ?? []).map((name: string) => `${status.enum} ${name}`);
  });
