import { isId, newId } from '../../domain/ids';

it('generates unique ids in the specified format, with every character of the alphabet', () => {
  const ids = Array.from({ length: 1_000 }, () => newId('ug'));
  for (const id of ids) expect(id).toMatch(/^ug-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{16}$/);
  expect(new Set(ids).size).toBe(1_000);
  expect(new Set(ids.join('')).size).toBe(37);
});

it.each([
  ['ug-abcde-12345-abcdefghij1234', true],
  ['ug-abcde-12345-abcdefghij123456', true],
  ['us-abcde-12345-abcdefghij1234', false],
  ['ug-abcde-12345-abcdefghij123', false],
  ['ug-abcde-12345-abcdefghij1234567', false],
  ['ug-abcde-12345-abcdefghij1234\n', false],
  ['ug-us-abcde-12345-abcdefghij1234', false],
])('recognizes a user group id: %j', (text, expected) => {
  expect(isId(text, 'ug')).toBe(expected);
});
