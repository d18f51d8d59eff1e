import type { InvocationResult } from '../function-runtime/result';
import { type AuthorizerResult, createResultCache } from './authorizer-cache';
import { mappedValue } from './context';
import { authorizerArn, methodArn, type RoutedRequest, requestEvent } from './event';
import type { FindFunction } from './lambda-proxy';
import type { AuthorizerModel } from './model';
import { type Fault, fault } from './outcome';
import { evaluate, readPolicy } from './policy';

export interface AuthorizerDependencies {
  readonly findFunction: FindFunction;
  readonly clock: () => number;
}

export type Authorize = (routed: RoutedRequest, authorizer: AuthorizerModel) => Promise<Fault | undefined>;

/**
 * Runs Lambda authorizers: `undefined` means that the method may be invoked, and the authorizer's context is in that of
 * the request.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-use-lambda-authorizer.html
 */
export function createAuthorize({ findFunction, clock }: AuthorizerDependencies): Authorize {
  const cache = createResultCache(clock);

  return async (routed, authorizer) => {
    const identity = identityOf(routed, authorizer);
    if (!identity) return fault('UNAUTHORIZED', 'Unauthorized');
    const { context } = routed;
    const invokedArn = methodArn(routed);

    const started = clock();
    let result = cache.get(authorizer, identity);
    if (!result) {
      const event = { type: 'REQUEST', methodArn: invokedArn, ...requestEvent(routed) };
      const invoked = findFunction(authorizer.functionArn, authorizerArn(routed, authorizer));
      const read = readResult(await invoked.invoke(event));
      if ('kind' in read) return read;
      result = read;
      cache.put(authorizer, identity, result);
    }
    context.authorizer = { ...result.context, integrationLatency: clock() - started };
    return refusal(evaluate(result.policy, invokedArn));
  };
}

/**
 * The values of an authorizer's identity sources. `undefined` when one is missing or empty: the gateway then returns 401
 * without calling the authorizer.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/configure-api-gateway-lambda-authorization.html
 */
function identityOf(
  routed: RoutedRequest,
  { identitySources }: AuthorizerModel,
): readonly string[] | undefined {
  const values = identitySources.map((source) => mappedValue(source, routed) ?? '');
  return values.includes('') ? undefined : values;
}

/** The error `Unauthorized` is the documented way to a 401; any other error, or a result without a policy, is a 500. */
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
