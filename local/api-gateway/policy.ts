/** A statement of an authorizer's policy; single values are lists of one. */
interface Statement {
  readonly effect: 'Allow' | 'Deny';
  readonly actions: readonly string[];
  readonly resources: readonly string[];
}

export type Decision = 'allow' | 'explicit-deny' | 'implicit-deny';
export type Policy = readonly Statement[];

const KEYS = new Set(['Sid', 'Effect', 'Action', 'Resource']);

/** Reads a policy document. `undefined` when it is malformed, or has elements that are not evaluated here. */
export function readPolicy(document: unknown): Policy | undefined {
  if (typeof document !== 'object' || document === null) return undefined;
  const { Statement: statements } = document as { Statement?: unknown };
  const list = Array.isArray(statements) ? statements : [statements];
  const policy = list.map(readStatement);
  return policy.every((statement) => statement !== undefined) ? policy : undefined;
}

function readStatement(value: unknown): Statement | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { Effect: effect, Action, Resource } = value as Record<string, unknown>;
  const actions = texts(Action);
  const resources = texts(Resource);
  if (effect !== 'Allow' && effect !== 'Deny') return undefined;
  if (!actions || !resources || Object.keys(value).some((key) => !KEYS.has(key))) return undefined;
  return { effect, actions, resources };
}

function texts(value: unknown): readonly string[] | undefined {
  const list = Array.isArray(value) ? value : [value];
  return list.length > 0 && list.every((each) => typeof each === 'string') ? list : undefined;
}

/**
 * Decides whether a policy allows a method: an explicit denial wins over any permission, and a method that no statement
 * mentions is denied.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-control-access-using-iam-policies-to-invoke-api.html
 */
export function evaluate(policy: Policy, methodArn: string): Decision {
  const matching = policy.filter(
    ({ actions, resources }) =>
      actions.some((action) => matchesWildcards(action.toLowerCase(), 'execute-api:invoke')) &&
      resources.some((resource) => matchesWildcards(resource, methodArn)),
  );
  if (matching.some(({ effect }) => effect === 'Deny')) return 'explicit-deny';
  return matching.length > 0 ? 'allow' : 'implicit-deny';
}

/** `*` stands for any characters, slashes too; `?` for one. Takes time in proportion to both lengths' product. */
export function matchesWildcards(pattern: string, text: string): boolean {
  let position = 0;
  let at = 0;
  let star = -1;
  let resume = 0;
  while (at < text.length) {
    if (pattern[position] === '*') {
      star = position++;
      resume = at;
    } else if (position < pattern.length && (pattern[position] === '?' || pattern[position] === text[at])) {
      position += 1;
      at += 1;
    } else if (star >= 0) {
      position = star + 1;
      at = ++resume;
    } else return false;
  }
  while (pattern[position] === '*') position += 1;
  return position === pattern.length;
}
