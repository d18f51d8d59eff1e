import { randomUUID } from 'node:crypto';
import { type LoopbackResponse, type LoopbackServer, startLoopbackServer } from '../network/loopback-server';
import { accessKeyIdOf } from '../permissions/permissions';

export type JsonObject = Readonly<Record<string, unknown>>;

/** An error of the service's API; every other error is an internal failure. */
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

export interface AwsJsonService {
  /** Before the operation in `X-Amz-Target`: `TrentService`. */
  readonly targetPrefix: string;
  /** Each gets the access key id of the request's signature, too. */
  readonly operations: Readonly<Record<string, (input: JsonObject, accessKeyId: string) => JsonObject>>;
}

/** Bytes. */
const BODY_LIMIT = 1_048_576;

/**
 * Serves an AWS service that speaks AWS JSON 1.1 on a free port of 127.0.0.1. Signatures name the caller and
 * are not checked.
 * https://smithy.io/2.0/aws/protocols/aws-json-1_1-protocol.html
 */
export function startAwsJsonServer({ targetPrefix, operations }: AwsJsonService): Promise<LoopbackServer> {
  return startLoopbackServer(async ({ headers, body }) => {
    try {
      const [prefix, name = ''] = String(headers['x-amz-target']).split('.');
      const operation =
        prefix === targetPrefix && Object.hasOwn(operations, name) ? operations[name] : undefined;
      if (!operation) throw new AwsError('UnknownOperationException', `${prefix}.${name} is not served here`);
      return answer(200, operation(parse(body), accessKeyIdOf(headers.authorization)));
    } catch (error) {
      if (!(error instanceof AwsError)) {
        return answer(500, { __type: 'InternalFailure', message: String(error) }, 'InternalFailure');
      }
      const { name, message, status } = error;
      return answer(status, { __type: name, message }, name);
    }
  }, BODY_LIMIT);
}

function parse(body: Buffer): JsonObject {
  try {
    const value: unknown = JSON.parse(body.toString('utf8') || '{}');
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  } catch {}
  throw new AwsError('SerializationException', 'The body is not a JSON object');
}

function answer(status: number, output: JsonObject, errorType?: string): LoopbackResponse {
  return {
    status,
    headers: {
      'Content-Type': 'application/x-amz-json-1.1',
      'x-amzn-RequestId': randomUUID(),
      ...(errorType && { 'x-amzn-ErrorType': errorType }),
    },
    body: JSON.stringify(output),
  };
}

/** A required string. @throws AwsError when it is missing */
export function requiredText(input: JsonObject, name: string): string {
  const value = input[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new AwsError('ValidationException', `${name} must be given`);
}

/** @throws AwsError with the refusal, if there is one */
export function requireAllowed(refusal: string | undefined): void {
  if (refusal !== undefined) throw new AwsError('AccessDeniedException', refusal);
}
