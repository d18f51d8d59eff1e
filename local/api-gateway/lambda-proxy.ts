import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { LocalFunction } from '../function-runtime/local-function';
import { methodArn, proxyEvent, type RoutedRequest } from './event';
import type { LambdaIntegration } from './model';
import { type Fault, fault, type Outcome } from './outcome';

const FIELDS = new Set(['statusCode', 'headers', 'multiValueHeaders', 'body', 'isBase64Encoded']);

/**
 * Response headers that a function cannot set under their own name: they come out as `x-amzn-Remapped-…`.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html; WWW-Authenticate from a
 * Lambda proxy integration: https://github.com/dherault/serverless-offline/issues/236
 */
const REMAPPED = new Set([
  'authorization',
  'connection',
  'content-length',
  'content-md5',
  'date',
  'expect',
  'host',
  'max-forwards',
  'proxy-authenticate',
  'server',
  'trailer',
  'upgrade',
  'user-agent',
  'www-authenticate',
]);

/**
 * @param sourceArn of the method or the authorizer that invokes the function, as a permission names it
 * @throws Error when there is no function with the ARN.
 */
export type FindFunction = (functionArn: string, sourceArn: string) => Pick<LocalFunction, 'invoke'>;

/** Runs a Lambda proxy integration: the function's result is the reply. */
export async function invokeProxy(
  routed: RoutedRequest,
  integration: LambdaIntegration,
  findFunction: FindFunction,
): Promise<Outcome> {
  const signal = AbortSignal.timeout(integration.timeoutMs);
  const invoked = findFunction(integration.functionArn, methodArn(routed));
  const result = await invoked.invoke(proxyEvent(routed), { signal });
  if (result.ok) return readProxyResult(result.payload);
  if (signal.aborted) return fault('INTEGRATION_TIMEOUT', 'Endpoint request timed out');
  // One that is throttled, or that the gateway may not invoke, is the gateway's own error; one that failed has given no
  // valid response.
  return internalError(
    ['TooManyRequestsException', 'AccessDeniedException'].includes(result.errorType) ? 500 : 502,
  );
}

/** Malformed responses are 502 and have no gateway response type: DEFAULT_5XX renders them. */
function internalError(status: 500 | 502): Fault {
  return fault('DEFAULT_5XX', 'Internal server error', status);
}

/**
 * Every field is optional, and any further field makes the response malformed.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html#api-gateway-simple-proxy-for-lambda-output-format
 */
function readProxyResult(payload: unknown): Outcome {
  if (typeof payload !== 'object' || payload === null) return internalError(502);
  if (Object.keys(payload).some((key) => !FIELDS.has(key))) return internalError(502);
  const { statusCode, headers, multiValueHeaders, body } = payload as Record<string, unknown>;
  const status = Number(statusCode ?? 200);
  const merged = mergeHeaders(headers, multiValueHeaders);
  if (!Number.isInteger(status) || status < 200 || status > 599 || !merged) return internalError(502);
  if (body !== undefined && body !== null && typeof body !== 'string') return internalError(502);
  return { kind: 'reply', status, headers: finishHeaders(merged), body: body ?? '' };
}

function mergeHeaders(single: unknown, multi: unknown): [string, string][] | undefined {
  const pairs: [string, unknown][] = [];
  if (!isRecord(single) || !isRecord(multi)) return undefined;
  for (const [name, values] of Object.entries(multi ?? {})) {
    for (const value of Array.isArray(values) ? values : [values]) pairs.push([name, value]);
  }
  for (const [name, value] of Object.entries(single ?? {})) {
    if (!pairs.some((pair) => pair[0] === name && pair[1] === value)) pairs.push([name, value]);
  }
  if (!pairs.every(isHeader)) return undefined;
  return pairs.map(([name, value]) => [name, String(value)]);
}

function isRecord(value: unknown): value is Record<string, unknown> | null | undefined {
  return value === undefined || value === null || (typeof value === 'object' && !Array.isArray(value));
}

function isHeader([name, value]: [string, unknown]): boolean {
  if (typeof value !== 'string' && typeof value !== 'boolean') return false;
  try {
    validateHeaderName(name);
    validateHeaderValue(name, String(value));
    return true;
  } catch {
    return false;
  }
}

function finishHeaders(headers: readonly (readonly [string, string])[]): [string, string][] {
  const kept = headers
    .filter(([name]) => name.toLowerCase() !== 'transfer-encoding')
    .map(([name, value]): [string, string] => [
      REMAPPED.has(name.toLowerCase()) ? `x-amzn-Remapped-${name}` : name,
      value,
    ]);
  const typed = kept.some(([name]) => name.toLowerCase() === 'content-type');
  return typed ? kept : [['Content-Type', 'application/json'], ...kept];
}
