import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import { parse } from 'yaml';

export interface ObservedResponse {
  readonly method: string;
  /** As sent; a query is ignored. */
  readonly path: string;
  readonly status: number;
  readonly contentType: string | undefined;
  /** As received, before parsing. */
  readonly body: string;
}

export interface Operation {
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
  readonly content?: Readonly<Record<string, unknown>>;
}

export const openApiFile = join(__dirname, '../../lib/openapi.yaml');

/** The public contract, parsed, with unresolved references. */
export const openApi = parse(readFileSync(openApiFile, 'utf8'));

/** Responses to any other method and path; 400 for an invalid path. */
const UNKNOWN_ROUTE = {
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
const validators = new Map<string, ValidateFunction>();

/**
 * Validates a response against the document: operation, status, media type and body. An undocumented method
 * or path must get `route_not_found`.
 *
 * @throws Error with what is not documented.
 */
export function expectDocumented({ method, path, status, contentType, body }: ObservedResponse): void {
  const what = `${method} ${path}: ${status} ${contentType} ${body}`;
  const { pointer, response } = documentedResponse(method, path, status, what);
  if (!response.content) {
    if (body !== '') throw new Error(`${what}\nhas a body, and none is documented`);
    return;
  }
  const mediaType = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (!(mediaType in response.content)) {
    throw new Error(`${what}\nis not of a documented type: ${Object.keys(response.content).join(', ')}`);
  }

  const validate = validator([...pointer, 'content', mediaType, 'schema']);
  if (!validate(mediaType.endsWith('json') ? parseJson(body, what) : body)) {
    throw new Error(`${what}\ndoes not match the document: ${ajv.errorsText(validate.errors)}`);
  }
}

/**
 * Validates a received delivery against the document's `webhooks`: headers and body.
 *
 * @throws Error with what is not documented.
 */
export function expectDocumentedDelivery(headers: IncomingHttpHeaders, body: string): void {
  const pointer = ['webhooks', 'event', 'post'];
  const { parameters } = lookUp(pointer) as { parameters: { name: string }[] };
  parameters.forEach(({ name }, index) => {
    const value = headers[name.toLowerCase()];
    const validate = validator([...pointer, 'parameters', String(index), 'schema']);
    if (!validate(value)) throw new Error(`${name}: ${value} ${ajv.errorsText(validate.errors)}`);
  });
  const names = parameters.map(({ name }) => name.toLowerCase());
  const others = Object.keys(headers).filter((name) => /webhook|svc/.test(name) && !names.includes(name));
  if (others.length > 0) throw new Error(`${others.join(', ')} is not documented`);
  const validate = validator([...pointer, 'requestBody', 'content', headers['content-type'] ?? '', 'schema']);
  if (!validate(parseJson(body, 'The body')))
    throw new Error(`${body}\ndoes not match the document: ${ajv.errorsText(validate.errors)}`);
}

/** Validates a value against a schema of the document. @throws Error with what does not match */
export function expectMatches(schema: string, value: unknown): void {
  const validate = validator(['components', 'schemas', schema]);
  if (!validate(value)) throw new Error(`No ${schema}: ${ajv.errorsText(validate.errors)}`);
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
    const response = '$ref' in entry ? lookUp(pointerOf(entry)) : entry;
    const [, restriction] = response.content?.['application/problem+json']?.schema.allOf ?? [];
    const { status, code } = restriction?.properties ?? {};
    return (code?.enum ?? []).map((name: string) => `${status.const} ${name}`);
  });
}

function documentedResponse(method: string, path: string, status: number, what: string) {
  const route = (path.split('?')[0] ?? '').replace(/\/+$/, '');
  const known = operations().find((each) => each.method === method && template(each.path).test(route));
  const responses = known?.operation.responses ?? UNKNOWN_ROUTE;
  const entry = responses[String(status) as keyof typeof responses];
  if (!entry) throw new Error(`${what}\nis no documented status: ${Object.keys(responses).join(', ')}`);
  const pointer =
    '$ref' in entry
      ? pointerOf(entry)
      : ['paths', known?.path ?? '', method.toLowerCase(), 'responses', String(status)];
  return { pointer, response: lookUp(pointer) as Response };
}

const template = (path: string) => new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`);

const pointerOf = ({ $ref }: Reference) => $ref.split('/').slice(1);

// biome-ignore lint/suspicious/noExplicitAny: part of the document, whose form the validity test checks.
const lookUp = (pointer: readonly string[]): any =>
  pointer.reduce((node, name) => (node as Record<string, unknown>)[name] as object, openApi);

function validator(pointer: readonly string[]): ValidateFunction {
  const fragment = pointer
    .map((name) => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/');
  const found = validators.get(fragment) ?? ajv.compile({ $ref: `openapi#/${fragment}` });
  validators.set(fragment, found);
  return found;
}

function parseJson(body: string, what: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    throw new Error(`${what}\nis not JSON`, { cause });
  }
}
