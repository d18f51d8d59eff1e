import { createHash } from 'node:crypto';
import { evaluate, readPolicy, type Statement } from '../iam/policy';
import type { Authorizer, FindFunction } from './api';
import { Fault, type GatewayRequest } from './request';

/** The authorizer's cached result for one identity, evaluated for each method. */
interface Decision {
  readonly statements: readonly Statement[];
  readonly context: Readonly<Record<string, string>>;
}

const unauthorized = () => new Fault('UNAUTHORIZED', 401, 'Unauthorized');

/**
 * Runs Lambda authorizers of type REQUEST. The authorizer's context is merged into the request's.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-use-lambda-authorizer.html
 *
 * @returns a function that throws a Fault if the method may not be invoked
 */
export function createAuthorize(findFunction: FindFunction, clock: () => number) {
  /** Keyed by a hash, so that tokens are not stored. */
  const cache = new Map<string, { readonly decision: Decision; readonly expires: number }>();

  return async (request: GatewayRequest, authorizer: Authorizer): Promise<void> => {
    const [, identity] =
      request.headers.findLast(([name]) => name.toLowerCase() === authorizer.identityHeader) ?? [];
    // Without an identity, API Gateway does not call the authorizer:
    // https://docs.aws.amazon.com/apigateway/latest/developerguide/configure-api-gateway-lambda-authorization.html
    if (!identity) throw unauthorized();
    const key = createHash('sha256').update(`${authorizer.id} ${identity}`).digest('base64');
    let { decision, expires = 0 } = cache.get(key) ?? {};
    if (!decision || expires <= clock()) {
      decision = await decide(request, authorizer, findFunction);
      cache.set(key, { decision, expires: clock() + authorizer.resultTtl * 1_000 });
    }
    request.context.authorizer = decision.context;
    const effect = evaluate(decision.statements, {
      principal: '',
      action: 'execute-api:Invoke',
      resource: request.methodArn,
      context: {},
    });
    if (effect === 'Allow') return;
    const reason = effect === 'Deny' ? ' with an explicit deny' : '';
    throw new Fault('ACCESS_DENIED', 403, `User is not authorized to access this resource${reason}`);
  };
}

async function decide(
  { apiArn, methodArn, event }: GatewayRequest,
  authorizer: Authorizer,
  findFunction: FindFunction,
): Promise<Decision> {
  const invoked = findFunction(authorizer.functionArn, `${apiArn}/authorizers/${authorizer.id}`);
  const result = await invoked.invoke({ type: 'REQUEST', methodArn, ...event });
  if (!result.ok) {
    // The error `Unauthorized` is the documented way to return 401.
    if (result.errorMessage === 'Unauthorized') throw unauthorized();
    throw new Fault('AUTHORIZER_FAILURE', 500, 'Internal server error');
  }
  try {
    const { principalId, policyDocument, context } = result.payload as Readonly<Record<string, unknown>>;
    const values = Object.entries({ ...(context as object), principalId });
    return {
      statements: readPolicy(policyDocument, authorizer.id),
      context: Object.fromEntries(values.map(([name, value]) => [name, String(value)])),
    };
  } catch {
    throw new Fault('AUTHORIZER_CONFIGURATION_ERROR', 500, 'Internal server error');
  }
}
