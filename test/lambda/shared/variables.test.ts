import { readVariables } from '../../../lambda/shared/variables';

it('reads variables, or names every missing or empty one', () => {
  const source = { SET: 'x', EMPTY: '' };
  expect(readVariables(['SET'], source)).toEqual({ SET: 'x' });
  expect(() => readVariables(['SET', 'EMPTY', 'ABSENT'], source)).toThrow('variables: EMPTY, ABSENT.');
});
