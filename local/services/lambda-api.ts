import { randomUUID } from 'node:crypto';
import type { LocalFunction } from '../lambda/function';
import type { FailedInvocation } from '../lambda/instance';
import { type LoopbackResponse, type LoopbackServer, startLoopbackServer } from '../network/loopback-server';
import { type Authorize, accessKeyIdOf, allowEverything } from '../permissions/permissions';

const PATH = /^\/2015-03-31\/functions\/([^/?]+)\/invocations(?:\?|$)/;

/** Bytes of JSON, a little more than Lambda's own limit, which the function itself keeps. */
const BODY_LIMIT = 7_000_000;

/**
 * Lambda's Invoke on a free port of 127.0.0.1, for the real SDK. `RequestResponse` only.
 * https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
 *
 * @param find a function by its name or ARN, without a qualifier
 */
export function startLambdaApi(
  find: (nameOrArn: string) => LocalFunction | undefined,
  authorize: Authorize = allowEverything,
): Promise<LoopbackServer> {
  return startLoopbackServer(async ({ method, url, headers, body }) => {
    const encoded = PATH.exec(url)?.[1];
    if (method !== 'POST' || encoded === undefined) {
      return refuse(404, 'UnknownOperationException', `${method} ${url} is not served here`);
    }
    const type = headers['x-amz-invocation-type'] ?? 'RequestResponse';
    if (type !== 'RequestResponse') {
      return refuse(400, 'InvalidParameterValueException', `Invocation type ${type} is not served here`);
    }
    const decoded = decode(encoded);
    if (decoded === undefined) {
      return refuse(400, 'InvalidParameterValueException', `${encoded} is not percent-encoded UTF-8`);
    }
    const name = withoutQualifier(decoded);
    const found = find(name);
    if (!found) return refuse(404, 'ResourceNotFoundException', `Function not found: ${name}`);
    const accessKeyId = accessKeyIdOf(headers.authorization);
    const refusal = authorize({ accessKeyId, action: 'lambda:InvokeFunction', resource: found.arn });
    if (refusal !== undefined) return refuse(403, 'AccessDeniedException', refusal);
    const event = parse(body);
    if (event === undefined) {
      return refuse(400, 'InvalidRequestContentException', 'Could not parse request body into json');
    }
    const result = await found.invoke(event.value);
    return result.ok ? answer(200, result.payload) : answerFailure(result);
  }, BODY_LIMIT);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** A name, an ARN of seven parts, or `account:function:name`; what follows is a version or an alias. */
function withoutQualifier(nameOrArn: string): string {
  const parts = nameOrArn.split(':');
  if (parts[0] === 'arn') return parts.slice(0, 7).join(':');
  return (parts[1] === 'function' ? parts[2] : parts[0]) ?? '';
}

function parse(body: Buffer): { readonly value: unknown } | undefined {
  if (body.length === 0) return { value: {} };
  try {
    return { value: JSON.parse(body.toString('utf8')) };
  } catch {
    return undefined;
  }
}

function answerFailure({ errorType, errorMessage, trace }: FailedInvocation): LoopbackResponse {
  if (errorType === 'TooManyRequestsException') return refuse(429, errorType, errorMessage);
  if (errorType === 'RequestEntityTooLargeException')
    return refuse(413, 'RequestTooLargeException', errorMessage);
  const payload = { errorType, errorMessage, ...(trace && { trace }) };
  return answer(200, payload, { 'X-Amz-Function-Error': 'Unhandled' });
}

function answer(
  status: number,
  payload: unknown,
  headers: Readonly<Record<string, string>> = {},
): LoopbackResponse {
  return {
    status,
    headers: {
      'Content-Type': 'application/json',
      'x-amzn-RequestId': randomUUID(),
      'X-Amz-Executed-Version': '$LATEST',
      ...headers,
    },
    body: JSON.stringify(payload),
  };
}

function refuse(status: number, errorType: string, message: string): LoopbackResponse {
  return answer(status, { Type: 'User', Message: message, message }, { 'x-amzn-ErrorType': errorType });
}
