import fc from 'fast-check';
import { evaluate, matchesWildcards, readPolicy } from '../../../local/api-gateway/policy';

const arn = 'arn:aws:execute-api:eu-central-1:000000000000:api/prod/DELETE/auth/user-groups/ug-1';

const decide = (...statements: object[]) => {
  const policy = readPolicy({ Version: '2012-10-17', Statement: statements });
  return policy && evaluate(policy, arn);
};
const statement = (Effect: string, Resource: unknown, Action: unknown = 'execute-api:Invoke') => ({
  Effect,
  Action,
  Resource,
});

test.each([
  ['the method itself', statement('Allow', arn), 'allow'],
  ['everything', statement('Allow', '*', '*'), 'allow'],
  ['one of a list', statement('Allow', ['x', arn], ['a', 'execute-api:*']), 'allow'],
  ['action in another case', statement('Allow', arn, 'Execute-API:invoke'), 'allow'],
  ['wildcard over slashes', statement('Allow', 'arn:aws:execute-api:*:*:api/prod/*'), 'allow'],
  ['another method', statement('Allow', arn.replace('DELETE', 'GET')), 'implicit-deny'],
  ['another action', statement('Allow', arn, 's3:GetObject'), 'implicit-deny'],
  ['a prefix only', statement('Allow', arn.slice(0, -1)), 'implicit-deny'],
  ['a denial', statement('Deny', '*'), 'explicit-deny'],
])('%s', (_, given, expected) => {
  expect(decide(given)).toBe(expected);
});

test('a denial wins over any permission, in either order', () => {
  const statements = [statement('Allow', '*'), statement('Deny', arn)];
  expect(decide(...statements)).toBe('explicit-deny');
  expect(decide(...statements.reverse())).toBe('explicit-deny');
});

test.each([
  ['nothing', undefined],
  ['a text', 'allow'],
  ['no statement', { Version: '2012-10-17' }],
  ['an unknown effect', { Statement: [statement('Permit', '*')] }],
  ['no resource', { Statement: [{ Effect: 'Allow', Action: '*' }] }],
  [
    'a condition, which is not evaluated here',
    { Statement: [{ ...statement('Allow', '*'), Condition: {} }] },
  ],
])('%s is no policy', (_, document) => {
  expect(readPolicy(document)).toBeUndefined();
});

const characters = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*', '?') });

test('wildcards match as the same regular expression does', () => {
  fc.assert(
    fc.property(characters, fc.string({ unit: fc.constantFrom('a', 'b', '/') }), (pattern, text) => {
      const expression = new RegExp(`^${pattern.replaceAll('*', '[^]*').replaceAll('?', '[^]')}$`);
      expect(matchesWildcards(pattern, text)).toBe(expression.test(text));
    }),
    { numRuns: 2_000 },
  );
});

test('no pattern takes long', () => {
  const before = Date.now();
  expect(matchesWildcards(`${'*a'.repeat(1_000)}b`, 'a'.repeat(5_000))).toBe(false);
  expect(Date.now() - before).toBeLessThan(1_000);
});
