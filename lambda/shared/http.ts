import type { APIGatewayProxyEvent, APIGatewayProxyResult } from 'aws-lambda';
import { fail, type Result } from '../../domain/result';
import {
  type FunctionOperation,
  logCodesOf,
  type Problem,
  type ProblemCode,
  routes,
  tokenDetails,
} from '../../domain/routes';
import type { Log } from './log';

/** Why a request is refused: the code of one of the operation's problems. */
export interface Refusal<Code extends string> {
  readonly code: Code;
  /** Goes into the log. */
  readonly cause?: string;
}

export const refuse = <Code extends string>(code: Code, cause?: string) =>
  fail<Refusal<Code>>({ code, ...(cause && { cause }) });

/** How an operation ended: a body to return as JSON, null for a 204, or a problem. */
export type Outcome<Name extends FunctionOperation> = Result<object | null, Refusal<ProblemCode<Name>>>;

interface Responding<Name extends FunctionOperation> {
  readonly operation: Name;
  readonly log: Log;
  readonly responseHeaders: Readonly<Record<string, string>>;
}

export async function respond<Name extends FunctionOperation>(
  event: APIGatewayProxyEvent,
  { operation, log, responseHeaders }: Responding<Name>,
  work: (requestId: string) => Promise<Outcome<Name>>,
): Promise<APIGatewayProxyResult> {
  const requestId = readRequestId(event);
  const problems = routes[operation].problems as Record<ProblemCode<Name> | 'internal_error', Problem>;
  const { title } = routes[operation].log;
  const logCodes = logCodesOf(operation);
  const response = await attempt();
  return { ...response, headers: { ...response.headers, ...responseHeaders } };

  async function attempt(): Promise<APIGatewayProxyResult> {
    try {
      const outcome = await work(requestId);
      if (!outcome.ok) {
        log.warn(`${title} refused`, { logCode: logCodes.refused, requestId, ...outcome.error });
        return problemResponse(outcome.error.code, problems[outcome.error.code], requestId);
      }
      log.info(`${title} completed`, { logCode: logCodes.completed, requestId });
      if (outcome.value === null)
        return { statusCode: 204, headers: { 'Cache-Control': 'no-store' }, body: '' };
      const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
      return { statusCode: 200, headers, body: JSON.stringify(outcome.value) };
    } catch (error) {
      log.error(`${title} failed`, { logCode: logCodes.failed, requestId, error: error as Error });
      return problemResponse('internal_error', problems.internal_error, requestId);
    }
  }
}

/**
 * The gateway's `extendedRequestId`. Callers can choose `requestId`, so nothing may depend on it: by repeating one, a
 * caller could disguise a replay as a retry.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-logging.html ($context.requestId)
 */
function readRequestId({ requestContext }: APIGatewayProxyEvent): string {
  const { extendedRequestId } = requestContext as { readonly extendedRequestId?: string };
  if (!extendedRequestId) throw new Error('The request has no extended request id');
  return extendedRequestId;
}

/** Every value of a header. @param name in lower case */
export function readHeader(event: APIGatewayProxyEvent, name: string): readonly string[] {
  return Object.entries(event.multiValueHeaders ?? {})
    .filter(([candidate]) => candidate.toLowerCase() === name)
    .flatMap(([, values]) => values ?? []);
}

function problemResponse(code: string, problem: Problem, requestId: string): APIGatewayProxyResult {
  const { status } = problem;
  return {
    statusCode: status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      // RFC 9110 requires a challenge.
      ...(status === 401 && {
        'WWW-Authenticate': code in tokenDetails ? 'Bearer error="invalid_token"' : 'StandardWebhooks',
      }),
      ...(status === 503 && { 'Retry-After': '5' }),
    },
    body: JSON.stringify({ type: `urn:wallet-infrastructure:problem:${code}`, ...problem, code, requestId }),
  };
}
