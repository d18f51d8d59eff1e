import type { TemplateObject } from '../../../domain/assembly';

/** One normalized policy statement: every element is a list. */
export interface Statement {
  /** The logical id of the policy's resource. */
  readonly where: string;
  readonly effect: 'Allow' | 'Deny';
  /** `*` and `?` are wildcards, here and in resources. */
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  /** ARNs of roles and accounts, services such as `events.amazonaws.com`, or `*`; absent in a role's policy. */
  readonly principals?: readonly string[];
  readonly conditions: readonly {
    readonly isMet: (value: string, actual: string) => boolean;
    /** Whether it is met by a request without the key: `…IfExists`, `ForAllValues:…`. */
    readonly isOptional: boolean;
    readonly key: string;
    readonly values: readonly string[];
  }[];
}

export interface AccessRequest {
  /** A role's ARN or a service; empty for policies without a principal. */
  readonly principal: string;
  /** Such as `kms:Sign`. */
  readonly action: string;
  /** ARN. */
  readonly resource: string;
  /** Keyed by condition key, in lowercase. */
  readonly context: Readonly<Record<string, string>>;
}

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html */
const operators = new Map([
  ['StringEquals', (value: string, actual: string) => value === actual],
  ['Bool', (value: string, actual: string) => value === actual],
  ['ArnEquals', matches],
  ['ArnLike', matches],
]);

/** The templates' condition keys: those of local requests, and those that only AWS sets. */
const conditionKeys = [
  'aws:principalisawsservice',
  'aws:securetransport',
  'aws:sourceaccount',
  'aws:sourcearn',
  'backup:copytargets',
  'kms:encryptioncontext:aws:logs:arn',
  'kms:encryptioncontext:secretarn',
  'kms:grantisforawsresource',
  'kms:viaservice',
  'lambda:sourcefunctionarn',
];

/**
 * Parses a policy document, with intrinsic functions resolved.
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html
 *
 * @param where names the policy in errors
 * @throws Error for anything unsupported: ignoring an element could turn a denial into an allow
 */
export function readPolicy(document: unknown, where: string): readonly Statement[] {
  const refuse = (what: string): never => {
    throw new Error(`${where}: ${what} is not supported on this machine.`);
  };
  const texts = (value: unknown): readonly string[] =>
    [value].flat().map((text) => {
      const isText = ['string', 'boolean'].includes(typeof text) && !String(text).includes('${');
      return isText ? String(text) : refuse(`the value ${JSON.stringify(text)}`);
    });
  const elements = ['Sid', 'Effect', 'Action', 'Resource', 'Principal', 'Condition'];
  return [(document as TemplateObject).Statement].flat().map((statement: TemplateObject): Statement => {
    const unknown = Object.keys(statement).find((name) => !elements.includes(name));
    if (unknown !== undefined) refuse(`the element ${unknown}`);
    const { Effect, Action, Resource = '*', Principal, Condition = {} } = statement;
    const principals = Object.entries(Principal === '*' ? { AWS: '*' } : (Principal ?? {}));
    const foreign = principals.find(([kind]) => !['AWS', 'Service'].includes(kind));
    if (foreign) refuse(`the principal ${foreign[0]}`);
    return {
      where,
      effect: Effect === 'Allow' || Effect === 'Deny' ? Effect : refuse(`the effect ${Effect}`),
      actions: texts(Action),
      resources: texts(Resource),
      ...(Principal !== undefined && { principals: principals.flatMap(([, names]) => texts(names)) }),
      conditions: Object.entries<TemplateObject>(Condition).flatMap(([operator, tests]) => {
        const [, forAll, base = '', ifExists] = /^(ForAllValues:)?(.*?)(IfExists)?$/.exec(operator) ?? [];
        const isMet = operators.get(base) ?? refuse(`the condition operator ${operator}`);
        const isOptional = ifExists !== undefined || forAll !== undefined;
        return Object.entries(tests).map(([name, values]) => {
          const key = name.toLowerCase();
          return conditionKeys.includes(key)
            ? { isMet, isOptional, key, values: texts(values) }
            : refuse(`the condition key ${name}`);
        });
      }),
    };
  });
}

/** Evaluates statements: an explicit `Deny` wins; undefined if none applies. */
export function evaluate(
  statements: readonly Statement[],
  request: AccessRequest,
): Statement['effect'] | undefined {
  const effects = statements.filter((each) => applies(each, request)).map(({ effect }) => effect);
  return effects.includes('Deny') ? 'Deny' : effects[0];
}

function applies({ actions, resources, principals, conditions }: Statement, request: AccessRequest): boolean {
  const { principal, action, resource, context } = request;
  const account = principal.split(':')[4] ?? '';
  const names = ['*', principal, account, `arn:aws:iam::${account}:root`];
  return (
    actions.some((pattern) => matches(pattern.toLowerCase(), action.toLowerCase())) &&
    resources.some((pattern) => matches(pattern, resource)) &&
    (principals?.some((name) => names.includes(name)) ?? true) &&
    conditions.every(({ isMet, isOptional, key, values }) => {
      const actual = context[key];
      return actual === undefined ? isOptional : values.some((value) => isMet(value, actual));
    })
  );
}

/** Those of patterns. To make one takes many times as long as to use it. */
const expressions = new Map<string, RegExp>();

/** Whether a pattern with `*` and `?` matches the whole text. */
export function matches(pattern: string, text: string): boolean {
  // Nearly all, and many times quicker.
  if (!/[*?]/.test(pattern)) return pattern === text;
  const expression = expressions.get(pattern) ?? expressionOf(pattern);
  expressions.set(pattern, expression);
  return expression.test(text);
}

function expressionOf(pattern: string): RegExp {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's');
}
