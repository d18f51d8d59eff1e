import { randomUUID } from 'node:crypto';
import { type LoopbackServer, startLoopbackServer } from '../shared/loopback-server';

export type JsonObject = Readonly<Record<string, unknown>>;

/** A documented error of a service's API; any other error is an internal failure. */
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

interface AwsRequest {
  /** The operation's name, such as `Sign`, in AWS JSON; the path in REST. */
  readonly operation: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The parsed JSON body; undefined if empty. */
  readonly input: unknown;
  /** The access key that signed the request. */
  readonly accessKeyId: string;
}

interface AwsResponse {
  readonly output: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** @throws AwsError for the caller */
export type AwsService = (request: AwsRequest) => Promise<AwsResponse>;

/** Bytes: Lambda accepts the largest requests, 6 MB. */
const bodyLimit = 7_000_000;

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
const credential = /\bCredential=([^/,\s]+)\/\d+\/[^/]+\/([^/]+)\/aws4_request/;

/**
 * Serves AWS services on one free port of 127.0.0.1. The signature, which is not verified, names the service.
 *
 * @param services by their signing names, such as `kms`
 */
export function startAwsServer(services: Readonly<Record<string, AwsService>>): Promise<LoopbackServer> {
  return startLoopbackServer(async ({ url, headers, body }) => {
    try {
      const [, accessKeyId = '', name = ''] = credential.exec(headers.authorization ?? '') ?? [];
      const service = Object.hasOwn(services, name) ? services[name] : undefined;
      if (!service) throw new AwsError('UnknownOperationException', `The service "${name}" is not supported`);
      // https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html
      const target = headers['x-amz-target'];
      const operation = String(target ?? url).replace(target ? /^.*\./ : /\?.*$/, '');
      const { output, ...response } = await service({ operation, headers, input: parse(body), accessKeyId });
      return respond(200, output, response.headers);
    } catch (error) {
      const { name, message, status } =
        error instanceof AwsError ? error : new AwsError('InternalFailure', String(error), 500);
      // SDKs of the JSON protocols read the header or `__type`.
      return respond(status, { __type: name, message }, { 'x-amzn-ErrorType': name });
    }
  }, bodyLimit);
}

function parse(body: Buffer): unknown {
  try {
    return body.length > 0 ? JSON.parse(String(body)) : undefined;
  } catch {
    throw new AwsError('SerializationException', 'The body is not JSON');
  }
}

const respond = (status: number, output: unknown, headers: Readonly<Record<string, string>> = {}) => ({
  status,
  headers: { 'Content-Type': 'application/json', 'x-amzn-RequestId': randomUUID(), ...headers },
  body: JSON.stringify(output ?? null),
});

type Operation = (input: JsonObject, accessKeyId: string) => JsonObject | Promise<JsonObject>;

/** Creates a service from its operations. */
export function serveOperations(operations: Readonly<Record<string, Operation>>): AwsService {
  return async ({ operation, input = {}, accessKeyId }) => {
    const run = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
    if (!run) throw new AwsError('UnknownOperationException', `${operation} is not supported`);
    return { output: await run(Object(input), accessKeyId) };
  };
}

/** A required string. @throws AwsError when it is missing */
export function requiredText(input: JsonObject, name: string): string {
  const value = input[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new AwsError('ValidationException', `${name} is required`);
}

/** @throws AwsError with the refusal, if any */
export function requireAllowed(refusal: string | undefined): void {
  if (refusal !== undefined) throw new AwsError('AccessDeniedException', refusal, 403);
}
