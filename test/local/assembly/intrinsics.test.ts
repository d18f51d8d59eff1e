// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how Fn::Sub is written.
import { createResolver } from '../../../local/assembly/intrinsics';

// References and joins are in every template, which the end-to-end tests deploy.

const resolver = createResolver({
  stackName: 'WalletEu',
  region: 'eu-central-1',
  template: {
    Resources: {},
    Parameters: { Zone: { Type: 'String', Default: '2' } },
    Conditions: {
      First: { 'Fn::Equals': [{ Ref: 'Zone' }, '1'] },
      NotFirst: { 'Fn::Not': [{ 'Fn::Equals': [{ Ref: 'Zone' }, '1'] }] },
    },
  },
  resources: {
    ref: (id) => ({ Secret: 'arn:secret' })[id],
    attribute: () => undefined,
    secret: (id) => (id === 'arn:secret' ? '{"username":"owner"}' : undefined),
  },
});
const resolve = (value: unknown) => resolver.resolve(value, 'Here');
const NoValue = { Ref: 'AWS::NoValue' };
const userOf = (secret: unknown) => ({
  'Fn::Join': ['', ['{{resolve:secretsmanager:', secret, ':SecretString:username::}}']],
});

it.each([
  [{ 'Fn::Sub': 'cdk-${AWS::AccountId}-x' }, 'cdk-000000000000-x'],
  [{ 'Fn::Select': ['1', { 'Fn::Split': ['-', { Ref: 'AWS::Region' }] }] }, 'central'],
  [{ 'Fn::If': ['NotFirst', 'yes', { Ref: 'Missing' }] }, 'yes'],
  [{ a: { 'Fn::If': ['First', 'yes', NoValue] }, b: [1, NoValue, { c: NoValue }] }, { b: [1, {}] }],
  [userOf({ Ref: 'Secret' }), 'owner'],
])('%j resolves to %j', (value, expected) => {
  expect(resolve(value)).toEqual(expected);
});

it.each([
  [{ Ref: 'Gone' }, 'the resource Gone has no local physical id'],
  [{ 'Fn::GetAtt': ['Gone', 'Arn'] }, 'the resource Gone has no local attribute Arn'],
  [{ 'Fn::Transform': {} }, 'Fn::Transform is not supported on this machine'],
  [{ 'Fn::Sub': '${Queue}' }, '${Queue} of Fn::Sub is not supported on this machine'],
  [userOf('other'), 'unknown secret in {{resolve:secretsmanager:other:'],
])('refuses %j and says where it is', (value, problem) => {
  expect(() => resolve({ a: { b: [value] } })).toThrow(`WalletEu, Here.a.b[0]: ${problem}`);
});
