import { holds, type RequestContext } from './conditions';
import { matchesPattern } from './elements';
import type { PolicyStatement, Principal } from './policy';

export interface AccessRequest {
  readonly principal: Principal;
  /** Such as `kms:Sign`. */
  readonly action: string;
  /** ARN. */
  readonly resource: string;
  readonly context: RequestContext;
}

export interface Policies {
  /** Of the principal. */
  readonly identity: readonly PolicyStatement[];
  /** Of the resource. @default - it has none */
  readonly resource?: readonly PolicyStatement[];
  /**
   * Whether the resource's policy has to allow the request too, as a KMS key's has, by naming the principal or its
   * account. https://docs.aws.amazon.com/kms/latest/developerguide/key-policies.html @default false
   */
  readonly resourceDecides?: boolean;
}

export type Denial = 'explicit' | 'no identity-based policy allows' | 'no resource-based policy allows';

/**
 * Decides a request within one account: a denial wins; otherwise one policy has to allow it.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic_policy-eval-basics.html
 *
 * @returns undefined when the request is allowed
 */
export function evaluate(request: AccessRequest, policies: Policies): Denial | undefined {
  const { identity, resource = [], resourceDecides = false } = policies;
  const ofIdentity = identity.filter((statement) => applies(statement, request));
  const ofResource = resource.filter((statement) => applies(statement, request));
  if ([...ofIdentity, ...ofResource].some(({ effect }) => effect === 'Deny')) return 'explicit';

  const identityAllows = ofIdentity.length > 0;
  const named = ofResource.some(({ principals = [] }) => principals.some((each) => names(each, request)));
  if (named) return undefined;
  if (resourceDecides && ofResource.length === 0) return 'no resource-based policy allows';
  if (identityAllows) return undefined;
  return request.principal.kind === 'AWS'
    ? 'no identity-based policy allows'
    : 'no resource-based policy allows';
}

function applies(statement: PolicyStatement, request: AccessRequest): boolean {
  const { actions, resources, principals, conditions } = statement;
  const action = request.action.toLowerCase();
  return (
    actions.some((pattern) => matchesPattern(pattern.toLowerCase(), action)) &&
    resources.some((pattern) => matchesPattern(pattern, request.resource)) &&
    (principals?.some((each) => names(each, request) || isAccount(each, request)) ?? true) &&
    holds(conditions, request.context)
  );
}

function names(principal: Principal, request: AccessRequest): boolean {
  if (principal.kind === 'Service') {
    return request.principal.kind === 'Service' && principal.name === request.principal.name;
  }
  if (request.principal.kind === 'Service') return principal.arn === '*';
  return principal.arn === '*' || principal.arn === request.principal.arn;
}

/** A policy that names the account leaves the decision to the policies of the account's identities. */
function isAccount(principal: Principal, request: AccessRequest): boolean {
  if (principal.kind === 'Service' || request.principal.kind === 'Service') return false;
  const account = request.principal.arn.split(':')[4] ?? '';
  return principal.arn === account || principal.arn === `arn:aws:iam::${account}:root`;
}
