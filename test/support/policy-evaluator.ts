import type { Denial, PolicyDocument } from '../../lib/guardrails/policies';
import { matches } from '../../local/aws/iam/policy';

export interface Request {
  readonly action: string;
  /** @default - an ARN that only `*` matches */
  readonly resource?: string;
  /** Values of condition keys; a list for multivalued keys. */
  readonly context?: Readonly<Record<string, string | readonly string[]>>;
}

/**
 * Throws for an operator that it does not know, and for a policy variable. As AWS documents the evaluation:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
 */
export const statementsFor = ({ Statement }: PolicyDocument, request: Request): readonly Denial[] =>
  Statement.filter((statement) => isFor(statement, request));

function isFor({ Action, NotAction, Resource, Condition = {} }: Denial, request: Request): boolean {
  const { action, resource = 'arn:aws:any', context = {} } = request;
  const actions = [Action ?? NotAction ?? []].flat();
  // Actions are not case-sensitive, ARNs are.
  const named = actions.some((pattern) => matches(pattern.toLowerCase(), action.toLowerCase()));
  // Most statements are for other actions.
  if (named !== (Action !== undefined)) return false;
  const values = new Map(Object.entries(context).map(([key, value]) => [key.toLowerCase(), value]));
  const valueAt = (key: string) => values.get(key.toLowerCase());
  return (
    [Resource].flat().some((pattern) => matches(pattern, resource)) &&
    Object.entries(Condition).every(([operator, keys]) =>
      Object.entries(keys).every(([key, expected]) => holds(operator, valueAt(key), [expected].flat())),
    )
  );
}

const comparisons: Readonly<Record<string, (pattern: string, value: string) => boolean>> = {
  StringEquals: (expected, value) => expected === value,
  StringLike: matches,
  ArnLike: matches,
  Bool: (expected, value) => expected.toLowerCase() === value.toLowerCase(),
};

function holds(operator: string, actual: string | readonly string[] | undefined, expected: string[]) {
  if (expected.some((text) => text.includes('${'))) throw new Error(`Policy variable in ${expected}`);
  const isMissing = actual === undefined || actual.length === 0;
  if (operator === 'Null') return expected.includes(String(isMissing));
  const [, ofAny, name = '', ifExists] = /^(ForAnyValue:)?(\w+?)(IfExists)?$/.exec(operator) ?? [];
  const isNegated = name.includes('Not');
  const compare = comparisons[name.replace('Not', '')];
  if (!compare) throw new Error(`Unknown operator ${operator}`);
  if (isMissing) return ifExists !== undefined || (!ofAny && isNegated);
  if (Array.isArray(actual) && !ofAny) throw new Error(`${operator} of several values`);
  const holdsFor = (value: string) => expected.some((each) => compare(each, value)) !== isNegated;
  return [actual].flat().some(holdsFor);
}
