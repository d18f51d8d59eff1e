import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (path: string) => readFileSync(join(__dirname, '../..', path), 'utf8');
const [page, script] = [read('dashboard/page.html'), read('dashboard/page.ts')];

it("its example has the secret, id and body of the documentation's test vector", () => {
  const rows = read('docs/receivers.md').matchAll(/^\| `?(.*?)`? \| `(.*)` \|$/gm);
  const vector = Object.fromEntries(Array.from(rows, ([, name = '', value = '']) => [name, value]));
  const { secret, 'body, UTF-8': body, ...headers } = vector;
  expect(script).toContain(`'${secret}'`);
  expect(page).toContain(`<b id="example-body">${body}</b>`);
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
    expect(page).toMatch(new RegExp(`${name}: <b[^>]*>${headers[name]?.replaceAll('+', '\\+')}</b>`));
});

it('the page contains every element that the script uses', () => {
  const taken = Array.from(script.matchAll(/byId\('([\w-]+)'\)/g), ([, id]) => id);
  expect(taken.length).toBeGreaterThan(5);
  for (const id of taken) expect(page).toContain(` id="${id}"`);
});
