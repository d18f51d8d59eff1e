// biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is how Fn::Sub is written.
import fc from 'fast-check';
import { createResolver, type ResourceValues, references } from '../../../local/assembly/intrinsics';
import type { Template } from '../../../local/assembly/manifest';

const noResources: ResourceValues = {
  ref: () => undefined,
  attribute: () => undefined,
  secret: () => undefined,
};

function resolver(template: Partial<Template> = {}, resources: Partial<ResourceValues> = {}) {
  return createResolver({
    stackName: 'WalletEu',
    region: 'eu-central-1',
    accountId: '000000000000',
    template: { Resources: {}, ...template },
    resources: { ...noResources, ...resources },
  });
}

const resolve = (value: unknown, ...rest: Parameters<typeof resolver>) =>
  resolver(...rest).resolve(value, 'Here');

describe('references', () => {
  const resources = {
    ref: (id: string) => (id === 'Queue' ? 'queue-url' : undefined),
    attribute: (id: string, name: string) =>
      id === 'Queue' && name === 'Arn.Part' ? 'queue-arn' : undefined,
  };

  it.each([
    [{ Ref: 'AWS::Region' }, 'eu-central-1'],
    [{ Ref: 'AWS::AccountId' }, '000000000000'],
    [{ Ref: 'AWS::Partition' }, 'aws'],
    [{ Ref: 'AWS::StackName' }, 'WalletEu'],
    [{ Ref: 'AWS::URLSuffix' }, 'amazonaws.com'],
    [{ Ref: 'Queue' }, 'queue-url'],
    [{ 'Fn::GetAtt': ['Queue', 'Arn.Part'] }, 'queue-arn'],
    [{ 'Fn::GetAtt': 'Queue.Arn.Part' }, 'queue-arn'],
    [
      { 'Fn::Sub': 'a ${Queue} ${Queue.Arn.Part} ${!Queue} ${AWS::Region}' },
      'a queue-url queue-arn ${Queue} eu-central-1',
    ],
    [{ 'Fn::Join': ['-', ['a', 1, { Ref: 'Queue' }]] }, 'a-1-queue-url'],
    [{ 'Fn::Split': ['|', { 'Fn::Join': ['|', ['a', '', 'b-c']] }] }, ['a', '', 'b-c']],
    [{ 'Fn::Select': ['1', { 'Fn::Split': ['-', { Ref: 'AWS::Region' }] }] }, 'central'],
    [
      { a: { Ref: 'AWS::NoValue' }, b: [1, { Ref: 'AWS::NoValue' }, { c: { Ref: 'AWS::NoValue' } }] },
      { b: [1, {}] },
    ],
    [{ Ref: 'AWS::NoValue' }, undefined],
  ])('%j is %j', (value, expected) => {
    expect(resolve(value, {}, resources)).toEqual(expected);
  });

  it('gives a parameter its default', () => {
    const template: Partial<Template> = {
      Parameters: {
        Zone: { Type: 'String', Default: '1' },
        Bare: { Type: 'String' },
      },
    };
    expect(resolve({ Ref: 'Zone' }, template)).toBe('1');
    expect(() => resolve({ Ref: 'Bare' }, template)).toThrow('the parameter Bare has no default');
  });
});

describe('conditions', () => {
  const template: Partial<Template> = {
    Parameters: { Zone: { Type: 'String', Default: '2' } },
    Conditions: {
      First: { 'Fn::Equals': [{ Ref: 'Zone' }, '1'] },
      Second: { 'Fn::Equals': [{ Ref: 'Zone' }, '2'] },
      Any: { 'Fn::Or': [{ Condition: 'First' }, { Condition: 'Second' }] },
      Both: { 'Fn::And': [{ Condition: 'First' }, { Condition: 'Second' }] },
      None: { 'Fn::Not': [{ Condition: 'Any' }] },
      Circle: { 'Fn::Not': [{ Condition: 'Circle' }] },
    },
  };

  it.each([
    ['First', false],
    ['Second', true],
    ['Any', true],
    ['Both', false],
    ['None', false],
  ])('%s is %s', (name, expected) => {
    expect(resolver(template).condition(name)).toBe(expected);
  });

  it('choose between values, and leave the other branch alone', () => {
    expect(resolve({ 'Fn::If': ['Any', 'yes', { Ref: 'Missing' }] }, template)).toBe('yes');
    expect(resolve({ a: { 'Fn::If': ['None', 'yes', { Ref: 'AWS::NoValue' }] } }, template)).toEqual({});
  });

  it('that depend on themselves or do not exist are refused', () => {
    expect(() => resolver(template).condition('Circle')).toThrow(
      'Conditions.Circle: the condition depends on itself',
    );
    expect(() => resolver(template).condition('Other')).toThrow(
      'Conditions.Other: there is no such condition',
    );
  });
});

describe('secrets', () => {
  const arn = 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:Master-abc';
  const seen: unknown[] = [];
  const resources = {
    ref: () => arn,
    secret: (secretId: string, jsonKey: string | undefined) => {
      seen.push([secretId, jsonKey]);
      return secretId === arn || secretId === 'plain' ? 'hidden' : undefined;
    },
  };

  it('are put in the place of dynamic references, by ARN or by name', () => {
    const value = {
      'Fn::Join': ['', ['{{resolve:secretsmanager:', { Ref: 'Secret' }, ':SecretString:username::}}']],
    };
    expect(resolve({ User: value }, {}, resources)).toEqual({ User: 'hidden' });
    expect(resolve('a{{resolve:secretsmanager:plain}}b', {}, resources)).toBe('ahiddenb');
    expect(seen).toEqual([
      [arn, 'username'],
      ['plain', undefined],
    ]);
  });

  it('that are not known are refused by name', () => {
    expect(() => resolve(['{{resolve:secretsmanager:other:SecretString:a::}}'], {}, resources)).toThrow(
      'WalletEu, Here[0]: the secret of {{resolve:secretsmanager:other:SecretString:a::}} is not known here',
    );
  });
});

it.each([
  [{ Ref: 'Gone' }, 'Here.a.b[0]: the resource Gone has no physical id here'],
  [{ 'Fn::GetAtt': ['Gone', 'Arn'] }, 'Here.a.b[0]: the resource Gone has no attribute Arn here'],
  [{ 'Fn::Transform': {} }, 'Here.a.b[0]: Fn::Transform is not supported on this machine'],
  [{ 'Fn::Select': [3, ['a']] }, 'Here.a.b[0]: Fn::Select asks for item 3 of 1'],
  [{ 'Fn::Join': ['', 'text'] }, 'Here.a.b[0]: a list is needed here'],
  [{ 'Fn::Split': ['-', ['list']] }, 'Here.a.b[0]: a text is needed here'],
  [{ 'Fn::Sub': ['${x}', { x: 'y' }] }, 'Here.a.b[0]: a text is needed here'],
])('refuses %j and names where it stands', (value, problem) => {
  expect(() => resolve({ a: { b: [value] } })).toThrow(`WalletEu, ${problem}`);
});

describe('for any template', () => {
  const plainKey = fc
    .string()
    .filter((key) => key !== 'Ref' && !key.startsWith('Fn::') && key !== '__proto__');
  const plain = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.string().filter((text) => !text.includes('{{resolve')),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(plainKey, tie('value'), { maxKeys: 4 }),
    ),
  })).value;

  it('what holds no intrinsic stays as it is', () => {
    fc.assert(fc.property(plain, (value) => expect(resolve(value)).toEqual(value)));
  });

  it('every reference is found, and nothing else', () => {
    const name = fc.stringMatching(/^[A-Z][A-Za-z0-9]{0,8}$/);
    const reference = name.chain((id) =>
      fc
        .constantFrom(
          { Ref: id },
          { 'Fn::GetAtt': [id, 'Arn'] },
          { 'Fn::GetAtt': `${id}.Arn.X` },
          { 'Fn::Sub': `a\${${id}}b\${!Not}` },
          { 'Fn::Sub': `\${${id}.Arn}` },
        )
        .map((value) => [id, value] as const),
    );
    fc.assert(
      fc.property(fc.array(reference), (found) => {
        const value = { Properties: { list: found.map(([, item]) => ({ nested: [item, 'Ref'] })) } };
        expect(references(value)).toEqual(new Set(found.map(([id]) => id)));
      }),
    );
  });
});
