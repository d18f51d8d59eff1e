import { randomUUID } from 'node:crypto';
import { type LoopbackServer, startLoopbackServer } from './loopback-server';

export type JsonObject = Readonly<Record<string, unknown>>;

/** An error of a service's API; every other error is an internal failure. */
export class AwsError extends Error {
  /** @param name the documented name, such as `NotFoundException` */
  constructor(
    override readonly name: string,
    message: string,
    readonly status = 400,
  ) {
    super(message);
  }
}

export interface AwsRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The JSON of the body; undefined without one. */
  readonly input: unknown;
  /** Of the request's signature. */
  readonly accessKeyId: string;
}

export interface AwsAnswer {
  readonly output: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** @throws AwsError for the caller */
export type AwsService = (request: AwsRequest) => AwsAnswer | Promise<AwsAnswer>;

/** Bytes: Lambda takes the largest requests, of 6 MB, and checks that itself. */
const bodyLimit = 7_000_000;

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
const credential = /\bCredential=([^/,\s]+)\/\d+\/[^/]+\/([^/]+)\/aws4_request/;

/**
 * Serves AWS services on one free port of 127.0.0.1. The service's name in the request's signature tells which one is
 * called; signatures are not verified.
 *
 * @param services by that name, such as `kms`
 */
export function startAwsServer(services: Readonly<Record<string, AwsService>>): Promise<LoopbackServer> {
  return startLoopbackServer(async ({ method, url, headers, body }) => {
    try {
      const [, accessKeyId = '', name = ''] = credential.exec(headers.authorization ?? '') ?? [];
      const service = Object.hasOwn(services, name) ? services[name] : undefined;
      if (!service) {
        const known = Object.keys(services).join(', ');
        throw new AwsError(
          'UnknownOperationException',
          `"${name}" is not one of the services: ${known}`,
          404,
        );
      }
      const [path = ''] = url.split('?');
      const { output, ...answer } = await service({ method, path, headers, input: parse(body), accessKeyId });
      return respond(200, output, answer.headers);
    } catch (error) {
      const { name, message, status } =
        error instanceof AwsError ? error : new AwsError('InternalFailure', String(error), 500);
      // SDKs of the JSON protocols read the header or `__type`.
      return respond(status, { __type: name, message }, { 'x-amzn-ErrorType': name });
    }
  }, bodyLimit);
}

function parse(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new AwsError('SerializationException', 'The body is not JSON');
  }
}

const respond = (status: number, output: unknown, headers: Readonly<Record<string, string>> = {}) => ({
  status,
  headers: { 'Content-Type': 'application/json', 'x-amzn-RequestId': randomUUID(), ...headers },
  body: JSON.stringify(output ?? null),
});

type Operation = (input: JsonObject, accessKeyId: string) => JsonObject;

/**
 * A service that speaks AWS JSON 1.1: the header `X-Amz-Target` names the operation, after the service's own prefix.
 * https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html
 */
export function jsonService(operations: Readonly<Record<string, Operation>>): AwsService {
  return ({ headers, input, accessKeyId }) => {
    const target = String(headers['x-amz-target']);
    const [, name = ''] = target.split('.');
    const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
    if (!operation) throw new AwsError('UnknownOperationException', `${target} is not supported`);
    return { output: operation(structure(input), accessKeyId) };
  };
}

/** The body of an operation whose input is a structure. */
export function structure(input: unknown): JsonObject {
  if (input === undefined) return {};
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input as JsonObject;
  throw new AwsError('SerializationException', 'The body is not a JSON object');
}

/** A required string. @throws AwsError when it is missing */
export function requiredText(input: JsonObject, name: string): string {
  const value = input[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new AwsError('ValidationException', `${name} must be given`);
}

/** @throws AwsError with the refusal, if there is one */
export function requireAllowed(refusal: string | undefined): void {
  if (refusal !== undefined) throw new AwsError('AccessDeniedException', refusal, 403);
}
