/** One statement of a policy, with every list written out. */
export interface Statement {
  readonly effect: 'Allow' | 'Deny';
  /** `*` and `?` as wildcards, here and in resources. */
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  /** Absent from identity-based policies. */
  readonly principals?: readonly Principal[];
  readonly conditions: readonly Condition[];
}

/** Of whom a resource-based policy speaks: a role's or an account's ARN, `*` for everyone, or a service such as `events.amazonaws.com`. */
export interface Principal {
  readonly kind: 'AWS' | 'Service';
  readonly name: string;
}

interface Condition {
  readonly operator: keyof typeof operators;
  /** In lowercase: condition keys do not distinguish case. */
  readonly key: string;
  readonly values: readonly string[];
}

/** What a request brings along, by condition key. Keys in lowercase. */
export type RequestContext = Readonly<Record<string, string>>;

export interface AccessRequest {
  /** Absent: the policy speaks of nobody in particular, as an authorizer's does. */
  readonly principal?: Principal;
  /** Such as `kms:Sign`. */
  readonly action: string;
  /** ARN. */
  readonly resource: string;
  readonly context: RequestContext;
}

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html */
const operators = {
  StringEquals: (value: string, given: string) => value === given,
  Bool: (value: string, given: string) => value.toLowerCase() === given.toLowerCase(),
  ArnLike: matches,
} as const;

/** The keys that the services of this machine, or AWS's alone, put into a request's context. */
const conditionKeys = new Set([
  'aws:securetransport',
  'aws:sourceaccount',
  'aws:sourcearn',
  'kms:encryptioncontext:aws:logs:arn',
  'kms:encryptioncontext:secretarn',
  'kms:grantisforawsresource',
  'kms:viaservice',
  'lambda:sourcefunctionarn',
]);

const elements = new Set(['Sid', 'Effect', 'Action', 'Resource', 'Principal', 'Condition']);

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads a policy document whose intrinsic functions are resolved.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html
 *
 * @param where names the policy in errors
 * @throws Error for anything unsupported: an element that is ignored could turn a denial into an allow
 */
export function readPolicy(document: unknown, where: string): readonly Statement[] {
  const unsupported = (what: string) => new Error(`${where}: ${what} is not supported on this machine.`);

  function fields(value: unknown): Fields {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw unsupported(String(JSON.stringify(value)));
    }
    return value as Fields;
  }

  function texts(value: unknown): readonly string[] {
    return [value].flat().map((text) => {
      if ((typeof text !== 'string' && typeof text !== 'boolean') || String(text).includes('${')) {
        throw unsupported(`the value ${JSON.stringify(text)}`);
      }
      return String(text);
    });
  }

  function principals(value: unknown): readonly Principal[] {
    if (value === '*') return [{ kind: 'AWS', name: '*' }];
    return Object.entries(fields(value)).flatMap(([kind, names]) => {
      if (kind !== 'AWS' && kind !== 'Service') throw unsupported(`the principal ${kind}`);
      return texts(names).map((name): Principal => ({ kind, name }));
    });
  }

  function conditions(value: Fields): readonly Condition[] {
    return Object.entries(value).flatMap(([operator, tests]) => {
      if (!Object.hasOwn(operators, operator)) throw unsupported(`the condition operator ${operator}`);
      return Object.entries(fields(tests)).map(([name, values]) => {
        const key = name.toLowerCase();
        if (!conditionKeys.has(key)) throw unsupported(`the condition key ${name}`);
        return { operator: operator as Condition['operator'], key, values: texts(values) };
      });
    });
  }

  const { Version, Statement, ...others } = fields(document);
  if (Version !== undefined && Version !== '2012-10-17') throw unsupported(`version ${Version}`);
  for (const name of Object.keys(others)) throw unsupported(`the element ${name}`);
  return [Statement].flat().map((value): Statement => {
    const statement = fields(value);
    const unknown = Object.keys(statement).find((name) => !elements.has(name));
    if (unknown) throw unsupported(`the element ${unknown}`);
    const { Effect: effect, Action, Resource = '*', Principal, Condition = {} } = statement;
    if (effect !== 'Allow' && effect !== 'Deny') throw unsupported(`the effect ${effect}`);
    return {
      effect,
      actions: texts(Action),
      resources: texts(Resource),
      ...(Principal !== undefined && { principals: principals(Principal) }),
      conditions: conditions(fields(Condition)),
    };
  });
}

/** Whether a statement is about a request; those of other principals, and unmet conditions, are not. */
export function applies(statement: Statement, request: AccessRequest): boolean {
  const { actions, resources, principals, conditions } = statement;
  return (
    actions.some((pattern) => matches(pattern.toLowerCase(), request.action.toLowerCase())) &&
    resources.some((pattern) => matches(pattern, request.resource)) &&
    (principals?.some((each) => names(each, request) || isAccount(each, request)) ?? true) &&
    // A key that the request does not have fulfils no condition.
    conditions.every(({ operator, key, values }) => {
      const given = request.context[key];
      return given !== undefined && values.some((value) => operators[operator](value, given));
    })
  );
}

/** Whether a principal of a policy is the request's own, or everyone. */
export const names = ({ kind, name }: Principal, { principal }: AccessRequest): boolean =>
  name === '*' || (kind === principal?.kind && name === principal.name);

/** A policy that names the account leaves the decision to the policies of the account's identities. */
function isAccount({ kind, name }: Principal, { principal }: AccessRequest): boolean {
  if (kind !== 'AWS' || principal?.kind !== 'AWS') return false;
  const account = principal.name.split(':')[4] ?? '';
  return name === account || name === `arn:aws:iam::${account}:root`;
}

/** Whether a pattern with `*` and `?` covers the whole text. */
function matches(pattern: string, text: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's').test(text);
}
