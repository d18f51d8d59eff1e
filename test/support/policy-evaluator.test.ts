import type { Denial } from '../../lib/guardrails/policies';
import { type Request, statementsFor } from './policy-evaluator';

const isDenied = (statement: Omit<Denial, 'Sid' | 'Effect' | 'Resource'>, request: Request) => {
  const Statement = [{ Sid: 'Example', Effect: 'Deny', Resource: '*', ...statement }] as const;
  return statementsFor({ Version: '2012-10-17', Statement }, request).length > 0;
};

const noneOf = { 'ForAllValues:StringNotLike': { 'aws:TagKeys': ['key1*', 'key2*'] } };
const anyOf = { 'ForAnyValue:StringEquals': { 'aws:TagKeys': 'webserver' } };

// What the guardrails' tests leave open: rows of the tables in
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition_examples-multi-valued-context-keys.html.
it.each<[NonNullable<Denial['Condition']>, NonNullable<Request['context']>, match: boolean]>([
  [noneOf, { 'aws:TagKeys': ['key1:hr', 'key3:legal'] }, false],
  [noneOf, { 'aws:TagKeys': ['key3:legal'] }, true],
  [noneOf, {}, true],
  [anyOf, { 'aws:TagKeys': ['environment', 'webserver', 'test'] }, true],
  [anyOf, { 'aws:TagKeys': ['environment', 'test'] }, false],
  [anyOf, {}, false],
])('%j with %j: %s', (Condition, context, match) => {
  expect(isDenied({ Action: ['IAM:tagrole'], Condition }, { action: 'iam:TagRole', context })).toBe(match);
});
