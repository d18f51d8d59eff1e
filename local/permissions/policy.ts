/** One statement of a policy, with every list written out. */
export interface Statement {
  readonly effect: 'Allow' | 'Deny';
  /** `*` and `?` are wildcards, here and in resources. */
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  /** ARNs of roles and accounts, services such as `events.amazonaws.com`, `*` for everyone; absent from a role's policy. */
  readonly principals?: readonly string[];
  readonly conditions: readonly {
    readonly operator: Operator;
    readonly key: string;
    readonly values: Texts;
  }[];
}

export interface AccessRequest {
  /** A role's ARN or a service. @default - nobody in particular, for policies that name no principal */
  readonly principal?: string;
  /** Such as `kms:Sign`. */
  readonly action: string;
  /** ARN. */
  readonly resource: string;
  /** By condition key, in lowercase. */
  readonly context: Readonly<Record<string, string>>;
}

type Operator = keyof typeof operators;
type Texts = readonly string[];
type Fields = Readonly<Record<string, unknown>>;

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html */
const operators = {
  StringEquals: (value: string, actual: string) => value === actual,
  Bool: (value: string, actual: string) => value.toLowerCase() === actual.toLowerCase(),
  ArnLike: matches,
} as const;

/** The condition keys of the templates: those of requests on this machine, and those of requests at AWS only. */
const conditionKeys = [
  'aws:securetransport',
  'aws:sourceaccount',
  'aws:sourcearn',
  'kms:encryptioncontext:aws:logs:arn',
  'kms:encryptioncontext:secretarn',
  'kms:viaservice',
  'lambda:sourcefunctionarn',
];

/**
 * Reads a policy document whose intrinsic functions are resolved.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html
 *
 * @param where names the policy in errors
 * @throws Error for anything unsupported: ignoring an element could turn a denial into an allow
 */
export function readPolicy(document: unknown, where: string): readonly Statement[] {
  const refuse = (what: string): never => {
    throw new Error(`${where}: ${what} is not supported on this machine.`);
  };
  const fields = (value: unknown, known?: Texts): Fields => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return refuse(String(JSON.stringify(value)));
    }
    const unknown = Object.keys(value).find((name) => known?.includes(name) === false);
    return unknown === undefined ? (value as Fields) : refuse(`the element ${unknown}`);
  };
  const texts = (value: unknown): Texts =>
    [value].flat().map((text) => {
      const isText = ['string', 'boolean'].includes(typeof text) && !String(text).includes('${');
      return isText ? String(text) : refuse(`the value ${JSON.stringify(text)}`);
    });
  const principals = (value: unknown): Texts =>
    value === '*'
      ? ['*']
      : Object.entries(fields(value)).flatMap(([kind, names]) =>
          ['AWS', 'Service'].includes(kind) ? texts(names) : refuse(`the principal ${kind}`),
        );
  const conditions = (value: Fields) =>
    Object.entries(value).flatMap(([operator, tests]) => {
      if (!Object.hasOwn(operators, operator)) refuse(`the condition operator ${operator}`);
      return Object.entries(fields(tests)).map(([name, values]) => {
        const key = name.toLowerCase();
        if (!conditionKeys.includes(key)) refuse(`the condition key ${name}`);
        return { operator: operator as Operator, key, values: texts(values) };
      });
    });

  const { Version = '2012-10-17', Statement } = fields(document, ['Version', 'Statement']);
  if (Version !== '2012-10-17') refuse(`version ${Version}`);
  return [Statement].flat().map((value): Statement => {
    const elements = ['Sid', 'Effect', 'Action', 'Resource', 'Principal', 'Condition'];
    const { Effect, Action, Resource = '*', Principal, Condition = {} } = fields(value, elements);
    return {
      effect: Effect === 'Allow' || Effect === 'Deny' ? Effect : refuse(`the effect ${Effect}`),
      actions: texts(Action),
      resources: texts(Resource),
      ...(Principal !== undefined && { principals: principals(Principal) }),
      conditions: conditions(fields(Condition)),
    };
  });
}

/** What the statements say about a request: an explicit `Deny` wins. Undefined when none applies. */
export function evaluate(
  statements: readonly Statement[],
  request: AccessRequest,
): Statement['effect'] | undefined {
  const effects = statements.filter((each) => applies(each, request)).map(({ effect }) => effect);
  return effects.includes('Deny') ? 'Deny' : effects[0];
}

function applies({ actions, resources, principals, conditions }: Statement, request: AccessRequest): boolean {
  const { principal = '', action, resource, context } = request;
  const account = principal.split(':')[4] ?? '';
  const names = ['*', principal, account, `arn:aws:iam::${account}:root`];
  return (
    actions.some((pattern) => matches(pattern.toLowerCase(), action.toLowerCase())) &&
    resources.some((pattern) => matches(pattern, resource)) &&
    (principals?.some((name) => names.includes(name)) ?? true) &&
    // A condition on a key that the request lacks is not met.
    conditions.every(({ operator, key, values }) => {
      const actual = context[key];
      return actual !== undefined && values.some((value) => operators[operator](value, actual));
    })
  );
}

/** Whether a pattern with `*` and `?` covers the whole text. */
function matches(pattern: string, text: string): boolean {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's').test(text);
}
