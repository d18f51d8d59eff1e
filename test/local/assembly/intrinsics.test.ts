// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how Fn::Sub is written.
import { createResolver, references } from '../../../local/assembly/intrinsics';

const resolver = createResolver({
  stackName: 'WalletEu',
  region: 'eu-central-1',
  template: {
    Resources: {},
    Parameters: { Zone: { Type: 'String', Default: '2' }, Many: { Type: 'List<String>', Default: '1' } },
    Conditions: {
      First: { 'Fn::Equals': [{ Ref: 'Zone' }, '1'] },
      NotFirst: { 'Fn::Not': [{ 'Fn::Equals': [{ Ref: 'Zone' }, '1'] }] },
      NotNamed: { 'Fn::Not': [{ Condition: 'First' }] },
    },
  },
  resources: {
    ref: (id) => ({ Queue: 'queue-url', Secret: 'arn:secret' })[id],
    attribute: (id, name) => (id === 'Queue' && name === 'Arn' ? 'queue-arn' : undefined),
    secret: (id) => (id === 'arn:secret' ? '{"username":"owner"}' : undefined),
  },
});
const resolve = (value: unknown) => resolver.resolve(value, 'Here');
const NoValue = { Ref: 'AWS::NoValue' };

it.each([
  [{ a: [1, true, null, 'text', { b: {} }] }, { a: [1, true, null, 'text', { b: {} }] }],
  [{ Ref: 'AWS::Region' }, 'eu-central-1'],
  [{ Ref: 'Queue' }, 'queue-url'],
  [{ Ref: 'Zone' }, '2'],
  [{ 'Fn::GetAtt': ['Queue', 'Arn'] }, 'queue-arn'],
  [{ 'Fn::Sub': 'cdk-${AWS::AccountId}-x' }, 'cdk-000000000000-x'],
  [{ 'Fn::Join': ['-', ['a', 1, { Ref: 'Queue' }]] }, 'a-1-queue-url'],
  [{ 'Fn::Select': ['1', { 'Fn::Split': ['-', { Ref: 'AWS::Region' }] }] }, 'central'],
  [{ 'Fn::If': ['NotFirst', 'yes', { Ref: 'Missing' }] }, 'yes'],
  [{ a: { 'Fn::If': ['First', 'yes', NoValue] }, b: [1, NoValue, { c: NoValue }] }, { b: [1, {}] }],
  [NoValue, undefined],
  [
    { 'Fn::Join': ['', ['{{resolve:secretsmanager:', { Ref: 'Secret' }, ':SecretString:username::}}']] },
    'owner',
  ],
])('%j resolves to %j', (value, expected) => {
  expect(resolve(value)).toEqual(expected);
});

it('evaluates conditions', () => {
  expect(['First', 'NotFirst'].map(resolver.condition)).toEqual([false, true]);
  expect(() => resolver.condition('Other')).toThrow('Conditions.Other: unknown condition');
  expect(() => resolver.condition('NotNamed')).toThrow('Fn::Not expects another function');
});

it.each([
  [{ Ref: 'Gone' }, 'the resource Gone has no local physical id'],
  [{ Ref: 'Many' }, 'the parameter Many is not a string with a default'],
  [{ 'Fn::GetAtt': ['Gone', 'Arn'] }, 'the resource Gone has no local attribute Arn'],
  [{ 'Fn::Transform': {} }, 'Fn::Transform is not supported on this machine'],
  [{ 'Fn::Sub': '${Queue}' }, '${Queue} of Fn::Sub is not supported on this machine'],
  [{ 'Fn::Select': [3, ['a']] }, 'Fn::Select: there is no item 3'],
  [{ 'Fn::Join': ['', 'text'] }, 'expected a list'],
  [{ 'Fn::Split': ['-', ['list']] }, 'expected a string'],
  ['{{resolve:secretsmanager:other:SecretString:a::}}', 'unknown secret in {{resolve:secretsmanager:other:'],
])('refuses %j and says where it is', (value, problem) => {
  expect(() => resolve({ a: { b: [value] } })).toThrow(`WalletEu, Here.a.b[0]: ${problem}`);
});

it('finds the references in a part of a template', () => {
  const part = [{ Ref: 'A' }, { x: { 'Fn::GetAtt': ['B', 'Arn'] } }, 'Ref'];
  expect([...references([...part, { 'Fn::Join': ['', [{ Ref: 'C' }]] }])]).toEqual(['A', 'B', 'C']);
});
