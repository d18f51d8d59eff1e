import type { Denial } from '../../lib/guardrails/policies';
import { denialsOf, type Request } from './evaluator';

const isDenied = (statement: Omit<Denial, 'Sid' | 'Effect'>, request: Request) => {
  const Statement = [{ Sid: 'Example', Effect: 'Deny', ...statement }] as const;
  return denialsOf({ Version: '2012-10-17', Statement }, request).length > 0;
};
type Condition = NonNullable<Denial['Condition']>;
type Values = NonNullable<Request['context']>;

const operators = 'reference_policies_elements_condition_operators.html';
const multivalued = 'reference_policies_condition_examples-multi-valued-context-keys.html';
const tag = 'aws:PrincipalTag/job-category';
const tagged = { StringEquals: { [tag]: 'iamuser-admin' } };
const types = { StringLikeIfExists: { 'ec2:InstanceType': ['t1.*', 't2.*', 'm3.*'] } };
const topic = 'arn:aws:sns:us-west-2:123456789012:TOPIC-ID';
const source = { ArnEquals: { 'aws:SourceArn': topic } };
const transport = { Bool: { 'aws:SecureTransport': 'false' } };
const key1 = { 'ForAllValues:StringNotLike': { 'aws:TagKeys': 'key1*' } };
const keys = { 'ForAllValues:StringNotLike': { 'aws:TagKeys': ['key1*', 'key2*'] } };
const webserver = { 'ForAnyValue:StringEquals': { 'aws:TagKeys': 'webserver' } };
const temporary = { Null: { 'aws:TokenIssueTime': 'false' } };
const distribution = 'arn:aws:cloudfront::123456789012:distribution';
const sources = 'logs:LogGeneratingResourceArns';
const distributions = { 'ForAllValues:ArnLike': { [sources]: [`${distribution}/*`] } };

// Rows of the tables in https://docs.aws.amazon.com/IAM/latest/UserGuide/…
it.each<[page: string, Condition, Values, match: boolean]>([
  [operators, tagged, { [tag]: 'iamuser-admin' }, true],
  [operators, tagged, { [tag]: 'dev-ops' }, false],
  [operators, tagged, {}, false],
  [operators, transport, { 'aws:SecureTransport': 'false' }, true],
  [operators, transport, { 'aws:SecureTransport': 'true' }, false],
  [operators, transport, {}, false],
  [operators, source, { 'aws:SourceArn': topic }, true],
  [operators, source, { 'aws:SourceArn': topic.replace('123456789012', '777788889999') }, false],
  [operators, source, {}, false],
  [operators, distributions, { [sources]: [`${distribution}/costcenter`] }, true],
  [operators, distributions, { [sources]: [`${distribution}/a`, 'arn:aws:s3:::b'] }, false],
  [operators, types, { 'ec2:InstanceType': 't1.micro' }, true],
  [operators, types, { 'ec2:InstanceType': 'm2.micro' }, false],
  [operators, types, {}, true],
  [operators, temporary, { 'aws:TokenIssueTime': '2026-11-23T15:00:00Z' }, true],
  [operators, temporary, {}, false],
  [multivalued, key1, { 'aws:TagKeys': ['key1:legal'] }, false],
  [multivalued, key1, { 'aws:TagKeys': ['key1:hr', 'key1:personnel'] }, false],
  [multivalued, key1, { 'aws:TagKeys': ['key2:audit'] }, true],
  [multivalued, key1, {}, true],
  [multivalued, keys, { 'aws:TagKeys': ['key1:hr', 'key2:audit'] }, false],
  [multivalued, keys, { 'aws:TagKeys': ['key3:legal'] }, true],
  [multivalued, webserver, { 'aws:TagKeys': ['webserver'] }, true],
  [multivalued, webserver, { 'aws:TagKeys': ['environment', 'webserver', 'test'] }, true],
  [multivalued, webserver, { 'aws:TagKeys': ['environment', 'test'] }, false],
  [multivalued, webserver, {}, false],
])('%s: %j with %j: %s', (_, Condition, context, match) => {
  expect(isDenied({ Action: ['iam:*'], Resource: '*', Condition }, { action: 'iam:TagRole', context })).toBe(
    match,
  );
});

// "If the policy condition requires that the key is not matched, such as StringNotLike or ArnNotLike, and the right key is not
// present, the condition is true"; "with a negated condition operator like StringNotEqualsIfExists, the request is still denied".
it.each(['StringNotEquals', 'StringNotLike', 'ArnNotLike', 'StringNotEqualsIfExists'])(
  'a missing key matches %s',
  (operator) => {
    const Condition = { [operator]: { 'aws:PrincipalOrgID': 'o-1' } };
    expect(isDenied({ Action: ['*'], Resource: '*', Condition }, { action: 's3:GetObject' })).toBe(true);
  },
);

// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_notaction.html
const withoutMfa = {
  NotAction: ['iam:*'],
  Resource: '*',
  Condition: { BoolIfExists: { 'aws:MultiFactorAuthPresent': 'false' } },
} as const;
// https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_policies_scps_examples_general.html
const outsideEu = {
  NotAction: ['iam:*', 'organizations:*', 'support:*'],
  Resource: '*',
  Condition: { StringNotEquals: { 'aws:RequestedRegion': ['eu-central-1', 'eu-west-1'] } },
} as const;
it.each<[string, Omit<Denial, 'Sid' | 'Effect'>, string, Values, denied: boolean]>([
  ['without MFA', withoutMfa, 's3:GetObject', { 'aws:MultiFactorAuthPresent': 'false' }, true],
  ['without the key', withoutMfa, 's3:GetObject', {}, true],
  ['an exempt action', withoutMfa, 'iam:CreateUser', {}, false],
  ['with MFA', withoutMfa, 's3:GetObject', { 'aws:MultiFactorAuthPresent': 'true' }, false],
  ['outside the regions', outsideEu, 'ec2:RunInstances', { 'aws:RequestedRegion': 'us-east-1' }, true],
  ['in a region', outsideEu, 'ec2:RunInstances', { 'aws:RequestedRegion': 'eu-west-1' }, false],
  ['a global service', outsideEu, 'IAM:createuser', { 'aws:RequestedRegion': 'us-east-1' }, false],
])('NotAction, %s', (_, statement, action, context, denied) => {
  expect(isDenied(statement, { action, context })).toBe(denied);
});

it('refuses what it does not know', () => {
  const evaluate = (Condition: Condition, context: Values) => () =>
    isDenied({ Action: ['*'], Resource: '*', Condition }, { action: 's3:GetObject', context });
  expect(evaluate({ NumericEquals: { a: '1' } }, { a: '1' })).toThrow('Unknown operator NumericEquals');
  expect(evaluate({ StringEquals: { a: `\${aws:username}` } }, { a: '1' })).toThrow('Policy variable');
  expect(evaluate({ StringEquals: { a: '1' } }, { a: ['1', '2'] })).toThrow('StringEquals of several values');
});
