import type { InvocationResult, LocalFunction } from '../function-runtime';
import { type AuthorizerResult, createResultCache } from './authorizer-cache';
import { identityOf } from './authorizer-identity';
import { type RoutedRequest, requestEvent } from './event';
import type { AuthorizerModel } from './model';
import { type Fault, fault } from './outcome';
import { evaluate, readPolicy } from './policy';

export interface AuthorizerParts {
  readonly region: string;
  readonly accountId: string;
  readonly functions: (functionArn: string) => LocalFunction;
  readonly clock: () => number;
}

export type Authorize = (routed: RoutedRequest, authorizer: AuthorizerModel) => Promise<Fault | undefined>;

/**
 * Runs Lambda authorizers: `undefined` means that the method may be invoked, and what the authorizer said about the
 * caller is in the context.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-use-lambda-authorizer.html
 */
export function createAuthorize({ region, accountId, functions, clock }: AuthorizerParts): Authorize {
  const cache = createResultCache(clock);

  return async (routed, authorizer) => {
    const identity = identityOf(routed, authorizer);
    if (!identity) return fault('UNAUTHORIZED', 'Unauthorized');
    const { context, model, request } = routed;
    const path = request.target.path.replace(/^\//, '');
    const methodArn = `arn:aws:execute-api:${region}:${accountId}:${model.apiId}/${model.stageName}/${request.httpMethod}/${path}`;

    const started = clock();
    let result = cache.get(authorizer, identity);
    if (!result) {
      const event = authorizerEvent(routed, authorizer, identity, methodArn);
      const invocation = await functions(authorizer.functionArn).invoke(event);
      const read = readResult(invocation);
      if ('kind' in read) return read;
      result = read;
      cache.put(authorizer, identity, result);
    }
    context.authorizer = { ...result.context, integrationLatency: clock() - started };
    return refusal(evaluate(result.policy, methodArn));
  };
}

function authorizerEvent(
  routed: RoutedRequest,
  { type }: AuthorizerModel,
  [token]: readonly string[],
  methodArn: string,
): unknown {
  if (type === 'TOKEN') return { type, methodArn, authorizationToken: token };
  return { type, methodArn, ...requestEvent(routed) };
}

/**
 * The error `Unauthorized` is the documented way to a 401; any other is a failure of ours, and so is a result
 * without a policy.
 */
function readResult(result: InvocationResult): AuthorizerResult | Fault {
  if (!result.ok) {
    return result.errorMessage === 'Unauthorized'
      ? fault('UNAUTHORIZED', 'Unauthorized')
      : fault('AUTHORIZER_FAILURE', null);
  }
  const { principalId, policyDocument, context = {} } = (result.payload ?? {}) as Record<string, unknown>;
  const policy = readPolicy(policyDocument);
  const texts = readContext(context);
  if (!policy || !texts) return fault('AUTHORIZER_CONFIGURATION_ERROR', null);
  return {
    policy,
    context: { ...texts, ...(principalId !== undefined && { principalId: String(principalId) }) },
  };
}

/** "You can't set a JSON object or array as a valid value of any key in the context map." */
function readContext(value: unknown): Record<string, string> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  if (entries.some(([, each]) => typeof each === 'object' || each === undefined)) return undefined;
  return Object.fromEntries(entries.map(([name, each]) => [name, String(each)]));
}

function refusal(decision: ReturnType<typeof evaluate>): Fault | undefined {
  if (decision === 'allow') return undefined;
  const message = 'User is not authorized to access this resource';
  return fault('ACCESS_DENIED', decision === 'explicit-deny' ? `${message} with an explicit deny` : message);
}
