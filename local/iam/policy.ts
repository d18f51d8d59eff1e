import { type Condition, readConditions } from './conditions';
import { list, record, texts, unknown } from './elements';

/** One statement of a policy, with every list written out. */
export interface PolicyStatement {
  readonly effect: 'Allow' | 'Deny';
  readonly actions: readonly string[];
  /** ARNs, `*` and `?` as wildcards. */
  readonly resources: readonly string[];
  /** Absent from identity-based policies. */
  readonly principals?: readonly Principal[];
  readonly conditions: readonly Condition[];
}

/** Whom a resource-based policy speaks of. `*` is everyone. */
export type Principal =
  | { readonly kind: 'AWS'; readonly arn: string }
  | { readonly kind: 'Service'; readonly name: string };

const elements = new Set(['Sid', 'Effect', 'Action', 'Resource', 'Principal', 'Condition']);

/**
 * Reads a policy document whose intrinsic functions are resolved. What it does not know it refuses: an element that is
 * left unread could turn a denial into an allow.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html
 *
 * @param where names the policy in errors
 * @throws Error for an element, operator, condition key or policy variable that is not known here
 */
export function readPolicy(document: unknown, where: string): readonly PolicyStatement[] {
  const { Version, Statement, ...others } = record(document, where);
  if (Version !== undefined && Version !== '2012-10-17') throw unknown(where, `version ${Version}`);
  for (const name of Object.keys(others)) throw unknown(where, `the element ${name}`);
  return list(Statement).map((statement, index) =>
    readStatement(statement, `${where}, statement ${index + 1}`),
  );
}

function readStatement(value: unknown, where: string): PolicyStatement {
  const statement = record(value, where);
  for (const name of Object.keys(statement)) {
    if (!elements.has(name)) throw unknown(where, `the element ${name}`);
  }
  const { Effect: effect, Action, Resource, Principal, Condition = {} } = statement;
  if (effect !== 'Allow' && effect !== 'Deny') throw unknown(where, `the effect ${effect}`);
  return {
    effect,
    actions: texts(Action, where),
    resources: Resource === undefined ? ['*'] : texts(Resource, where),
    ...(Principal !== undefined && { principals: readPrincipals(Principal, where) }),
    conditions: readConditions(record(Condition, where), where),
  };
}

function readPrincipals(value: unknown, where: string): readonly Principal[] {
  if (value === '*') return [{ kind: 'AWS', arn: '*' }];
  return Object.entries(record(value, where)).flatMap(([kind, names]): Principal[] => {
    if (kind === 'AWS') return texts(names, where).map((arn) => ({ kind, arn }));
    if (kind === 'Service') return texts(names, where).map((name) => ({ kind, name }));
    throw unknown(where, `the principal ${kind}`);
  });
}
