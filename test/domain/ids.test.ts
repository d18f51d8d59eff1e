import { isId, newId } from '../../domain/ids';

it('generates unique ids in the specified format', () => {
  const ids = Array.from({ length: 1_000 }, () => newId('ug'));
  for (const id of ids) expect(id).toMatch(/^ug-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$/);
  expect(new Set(ids).size).toBe(1_000);
});

it('uses every character with the same probability', () => {
  const counts = new Map<string, number>();
  const characters = Array.from({ length: 4_000 }, () => newId('or').slice(3).replaceAll('-', '')).join('');
  for (const character of characters) counts.set(character, (counts.get(character) ?? 0) + 1);

  const expected = characters.length / 36;
  // Chi-squared with 35 degrees of freedom exceeds 110 once in 10^9 runs; taking bytes modulo 36 gives about 200.
  const chiSquared = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  expect(counts.size).toBe(36);
  expect(chiSquared).toBeLessThan(110);
});

it.each([
  ['ug-abcde-12345-abcdefghij1234', true],
  ['ug-abcde-12345-abcdefghij123456', true],
  ['us-abcde-12345-abcdefghij1234', false],
  ['ug-abcde-12345-abcdefghij123', false],
  ['ug-abcde-12345-abcdefghij1234567', false],
  ['ug-ABCDE-12345-abcdefghij1234', false],
  ['ug-abcde-12345-abcdefghij1234\n', false],
  ['ug-us-abcde-12345-abcdefghij1234', false],
  ['', false],
])('recognizes a user group id: %j', (text, expected) => {
  expect(isId(text, 'ug')).toBe(expected);
});
