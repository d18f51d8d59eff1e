import { matchesPattern, texts, unknown } from './elements';

/** What a request brings along, by condition key: `aws:SecureTransport`, `kms:ViaService`, … Keys in lowercase. */
export type RequestContext = Readonly<Record<string, string>>;

export interface Condition {
  readonly operator: Operator;
  /** In lowercase: condition keys do not distinguish case. */
  readonly key: string;
  readonly values: readonly string[];
}

type Operator = keyof typeof operators;

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html */
const operators = {
  StringEquals: (value: string, given: string) => value === given,
  Bool: (value: string, given: string) => value.toLowerCase() === given.toLowerCase(),
  ArnLike: matchesPattern,
} as const;

/** The keys that the services of this machine, or AWS's alone, put into a request's context. */
const keys = new Set([
  'aws:securetransport',
  'aws:sourceaccount',
  'aws:sourcearn',
  'kms:encryptioncontext:aws:logs:arn',
  'kms:encryptioncontext:secretarn',
  'kms:grantisforawsresource',
  'kms:viaservice',
  'lambda:sourcefunctionarn',
]);

/** @throws Error for an operator or a key that is not known here */
export function readConditions(
  element: Readonly<Record<string, unknown>>,
  where: string,
): readonly Condition[] {
  return Object.entries(element).flatMap(([operator, tests]) => {
    if (!Object.hasOwn(operators, operator)) throw unknown(where, `the condition operator ${operator}`);
    return Object.entries(tests as object).map(([name, values]): Condition => {
      const key = name.toLowerCase();
      if (!keys.has(key)) throw unknown(where, `the condition key ${name}`);
      return { operator: operator as Operator, key, values: texts(values, where) };
    });
  });
}

/** All conditions have to hold, each for one of its values. A key that the request does not have holds for none. */
export function holds(conditions: readonly Condition[], context: RequestContext): boolean {
  return conditions.every(({ operator, key, values }) => {
    const given = context[key];
    return given !== undefined && values.some((value) => operators[operator](value, given));
  });
}
