// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how Fn::Sub is written.
import { createResolver, references } from '../../../local/assembly/intrinsics';

const secretArn = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:Master-abc';
const secrets: Record<string, string> = { [secretArn]: '{"username":"owner"}', plain: 'hidden' };

const resolver = createResolver({
  stackName: 'WalletEu',
  region: 'eu-central-1',
  template: {
    Resources: {},
    Parameters: {
      Zone: { Type: 'String', Default: '2' },
      Bare: { Type: 'String' },
      Many: { Type: 'List<String>' },
    },
    Conditions: {
      First: { 'Fn::Equals': [{ Ref: 'Zone' }, '1'] },
      Second: { 'Fn::Equals': [{ Ref: 'Zone' }, '2'] },
      NotFirst: { 'Fn::Not': [{ Condition: 'First' }] },
      NotSecond: { 'Fn::Not': [{ 'Fn::Equals': [{ Ref: 'Zone' }, '2'] }] },
    },
  },
  resources: {
    ref: (id) => ({ Queue: 'queue-url', Secret: secretArn })[id],
    attribute: (id, name) => (id === 'Queue' && name === 'Arn.Part' ? 'queue-arn' : undefined),
    secret: (id) => secrets[id],
  },
});
const resolve = (value: unknown) => resolver.resolve(value, 'Here');
const NoValue = { Ref: 'AWS::NoValue' };

it.each([
  [{ a: [1, true, null, 'text', { b: {} }] }, { a: [1, true, null, 'text', { b: {} }] }],
  [{ Ref: 'AWS::Region' }, 'eu-central-1'],
  [{ Ref: 'AWS::AccountId' }, '000000000000'],
  [{ Ref: 'AWS::Partition' }, 'aws'],
  [{ Ref: 'AWS::StackName' }, 'WalletEu'],
  [{ Ref: 'AWS::URLSuffix' }, 'amazonaws.com'],
  [{ Ref: 'Queue' }, 'queue-url'],
  [{ Ref: 'Zone' }, '2'],
  [{ 'Fn::GetAtt': ['Queue', 'Arn.Part'] }, 'queue-arn'],
  [{ 'Fn::GetAtt': 'Queue.Arn.Part' }, 'queue-arn'],
  [
    { 'Fn::Sub': '${Queue} ${Queue.Arn.Part} ${!Queue} ${AWS::Region}' },
    'queue-url queue-arn ${Queue} eu-central-1',
  ],
  [{ 'Fn::Join': ['-', ['a', 1, { Ref: 'Queue' }]] }, 'a-1-queue-url'],
  [{ 'Fn::Split': ['|', { 'Fn::Join': ['|', ['a', '', 'b-c']] }] }, ['a', '', 'b-c']],
  [{ 'Fn::Select': ['1', { 'Fn::Split': ['-', { Ref: 'AWS::Region' }] }] }, 'central'],
  [{ 'Fn::If': ['NotFirst', 'yes', { Ref: 'Missing' }] }, 'yes'],
  [{ a: { 'Fn::If': ['First', 'yes', NoValue] } }, {}],
  [{ a: NoValue, b: [1, NoValue, { c: NoValue }] }, { b: [1, {}] }],
  [NoValue, undefined],
  ['a{{resolve:secretsmanager:plain}}b', 'ahiddenb'],
  [
    { 'Fn::Join': ['', ['{{resolve:secretsmanager:', { Ref: 'Secret' }, ':SecretString:username::}}']] },
    'owner',
  ],
])('%j resolves to %j', (value, expected) => {
  expect(resolve(value)).toEqual(expected);
});

it('evaluates conditions', () => {
  const results = ['First', 'Second', 'NotFirst', 'NotSecond'].map(resolver.condition);
  expect(results).toEqual([false, true, true, false]);
  expect(() => resolver.condition('Other')).toThrow('Conditions.Other: unknown condition');
});

it.each([
  [{ Ref: 'Gone' }, 'the resource Gone has no local physical id'],
  [{ Ref: 'Bare' }, 'the parameter Bare has no default'],
  [{ Ref: 'Many' }, 'the parameter Many is a list, which is unsupported'],
  [{ 'Fn::GetAtt': ['Gone', 'Arn'] }, 'the resource Gone has no local attribute Arn'],
  [{ 'Fn::Transform': {} }, 'Fn::Transform is not supported on this machine'],
  [{ 'Fn::Select': [3, ['a']] }, 'Fn::Select: no item 3 in a list of 1'],
  [{ 'Fn::Join': ['', 'text'] }, 'expected a list'],
  [{ 'Fn::Split': ['-', ['list']] }, 'expected a string'],
  ['{{resolve:secretsmanager:other}}', 'unknown secret in {{resolve:secretsmanager:other}}'],
])('refuses %j and says where it is', (value, problem) => {
  expect(() => resolve({ a: { b: [value] } })).toThrow(`WalletEu, Here.a.b[0]: ${problem}`);
});

it('finds the references in a part of a template', () => {
  const part = [{ Ref: 'A' }, { x: { 'Fn::GetAtt': ['B', 'Arn'] } }, { 'Fn::GetAtt': 'C.Arn' }, 'Ref'];
  const found = references([
    ...part,
    { 'Fn::Sub': 'a${D}b${E.Arn}${!Not}' },
    { 'Fn::Join': ['', [{ Ref: 'F' }]] },
  ]);
  expect([...found]).toEqual(['A', 'B', 'C', 'D', 'E', 'F']);
});
