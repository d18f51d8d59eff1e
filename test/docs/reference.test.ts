import { readFileSync } from 'node:fs';
import { reference, withCosts } from '../runs/costs/write-costs';

it('has the costs that npx tsx test/runs/costs/write-costs.ts computes', () => {
  const page = readFileSync(reference, 'utf8');
  expect(withCosts(page)).toBe(page);
  expect(withCosts(page.replaceAll(/\d\.\d\d(?=\*\* \|$| \|$)/gm, '9.99'))).toBe(page);
});
