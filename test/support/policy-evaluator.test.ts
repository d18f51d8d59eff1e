import type { Denial } from '../../lib/guardrails/policies';
import { type Request, statementsFor } from './policy-evaluator';

const isDenied = (statement: Omit<Denial, 'Sid' | 'Effect' | 'Resource'>, request: Request) => {
  const Statement = [{ Sid: 'Example', Effect: 'Deny', Resource: '*', ...statement }] as const;
  return statementsFor({ Version: '2012-10-17', Statement }, request).length > 0;
};
type Condition = NonNullable<Denial['Condition']>;
type Values = NonNullable<Request['context']>;

const tag = 'aws:PrincipalTag/job-category';
const tagged = { StringEquals: { [tag]: 'iamuser-admin' } };
const types = { StringLikeIfExists: { 'ec2:InstanceType': ['t1.*', 't2.*', 'm3.*'] } };
const topic = 'arn:aws:sns:us-west-2:123456789012:TOPIC-ID';
const source = { ArnEquals: { 'aws:SourceArn': topic } };
const transport = { Bool: { 'aws:SecureTransport': 'false' } };
const keys = { 'ForAllValues:StringNotLike': { 'aws:TagKeys': ['key1*', 'key2*'] } };
const webserver = { 'ForAnyValue:StringEquals': { 'aws:TagKeys': 'webserver' } };
const temporary = { Null: { 'aws:TokenIssueTime': 'false' } };

// Rows of the tables in https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html and
// reference_policies_condition_examples-multi-valued-context-keys.html. A missing key matches negated operators.
it.each<[Condition, Values, match: boolean]>([
  [tagged, { [tag]: 'iamuser-admin' }, true],
  [tagged, { [tag]: 'dev-ops' }, false],
  [tagged, {}, false],
  [transport, { 'aws:SecureTransport': 'false' }, true],
  [transport, { 'aws:SecureTransport': 'true' }, false],
  [source, { 'aws:SourceArn': topic }, true],
  [source, { 'aws:SourceArn': topic.replace('123456789012', '777788889999') }, false],
  [types, { 'ec2:InstanceType': 't1.micro' }, true],
  [types, { 'ec2:InstanceType': 'm2.micro' }, false],
  [types, {}, true],
  [temporary, { 'aws:TokenIssueTime': '2026-11-23T15:00:00Z' }, true],
  [temporary, {}, false],
  [keys, { 'aws:TagKeys': ['key1:hr', 'key2:audit'] }, false],
  [keys, { 'aws:TagKeys': ['key3:legal'] }, true],
  [keys, {}, true],
  [webserver, { 'aws:TagKeys': ['environment', 'webserver', 'test'] }, true],
  [webserver, { 'aws:TagKeys': ['environment', 'test'] }, false],
  [webserver, {}, false],
  [{ StringNotEquals: { a: '1' } }, {}, true],
  [{ StringNotEqualsIfExists: { a: '1' } }, {}, true],
])('%j with %j: %s', (Condition, context, match) => {
  expect(isDenied({ Action: ['iam:*'], Condition }, { action: 'iam:TagRole', context })).toBe(match);
});

it('NotAction names, in any case, what a statement is not for', () => {
  expect(isDenied({ NotAction: ['iam:*'] }, { action: 'IAM:createuser' })).toBe(false);
  expect(isDenied({ NotAction: ['iam:*'] }, { action: 'ec2:RunInstances' })).toBe(true);
});
