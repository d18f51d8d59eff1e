import { createHash } from 'node:crypto';
import { applies, readPolicy, type Statement } from '../permissions/policy';
import type { Authorizer, FindFunction } from './model';
import { apiArn, eventOf, Fault, type GatewayRequest, methodArn } from './request';

/** The authorizer's answer for one identity, which is applied to each method. */
interface Decision {
  readonly statements: readonly Statement[];
  /** Values are strings, as the gateway passes them on. */
  readonly context: Readonly<Record<string, string>>;
}

/** Decisions that are cached at most; then all are dropped. */
const cacheLimit = 10_000;

/**
 * Runs Lambda authorizers of type REQUEST. The authorizer's context goes into that of the request.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-use-lambda-authorizer.html
 *
 * @returns what throws a Fault unless the method may be invoked
 */
export function createAuthorize(findFunction: FindFunction, clock: () => number) {
  /** Tokens are kept as hashes only. */
  const cache = new Map<string, { readonly decision: Decision; readonly expires: number }>();

  return async (request: GatewayRequest, authorizer: Authorizer): Promise<void> => {
    const identity = authorizer.identityHeaders.map(
      (name) => request.headers.findLast(([each]) => each.toLowerCase() === name.toLowerCase())?.[1] ?? '',
    );
    // Without an identity the authorizer is not called:
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/configure-api-gateway-lambda-authorization.html
    if (identity.includes('')) throw new Fault('UNAUTHORIZED', 'Unauthorized');
    const key = createHash('sha256')
      .update(JSON.stringify([authorizer.id, ...identity]))
      .digest('base64');
    const cached = cache.get(key);
    const decision =
      cached && cached.expires > clock() ? cached.decision : await decide(request, authorizer, findFunction);
    if (decision !== cached?.decision && authorizer.resultTtl > 0) {
      if (cache.size >= cacheLimit) cache.clear();
      cache.set(key, { decision, expires: clock() + authorizer.resultTtl * 1_000 });
    }
    request.context.authorizer = decision.context;
    const asked = { action: 'execute-api:Invoke', resource: methodArn(request), context: {} };
    const effects = decision.statements.filter((each) => applies(each, asked)).map(({ effect }) => effect);
    const refusal = 'User is not authorized to access this resource';
    if (effects.includes('Deny')) throw new Fault('ACCESS_DENIED', `${refusal} with an explicit deny`);
    if (effects.length === 0) throw new Fault('ACCESS_DENIED', refusal);
  };
}

async function decide(
  request: GatewayRequest,
  authorizer: Authorizer,
  findFunction: FindFunction,
): Promise<Decision> {
  const invoked = findFunction(authorizer.functionArn, `${apiArn(request)}/authorizers/${authorizer.id}`);
  const result = await invoked.invoke({
    type: 'REQUEST',
    methodArn: methodArn(request),
    ...eventOf(request),
  });
  // The error `Unauthorized` is the documented way to a 401.
  if (!result.ok) {
    if (result.errorMessage === 'Unauthorized') throw new Fault('UNAUTHORIZED', 'Unauthorized');
    throw new Fault('AUTHORIZER_FAILURE', 'Internal server error');
  }
  const { principalId, policyDocument, context = {} } = (result.payload ?? {}) as Record<string, unknown>;
  try {
    const values = Object.entries({ ...(context as object), principalId });
    // "You can't set a JSON object or array as a valid value of any key in the context map."
    if (values.some(([, value]) => typeof value === 'object')) throw new Error('nested');
    return {
      statements: readPolicy(policyDocument, authorizer.id),
      context: Object.fromEntries(values.map(([name, value]) => [name, String(value)])),
    };
  } catch {
    throw new Fault('AUTHORIZER_CONFIGURATION_ERROR', 'Internal server error');
  }
}
