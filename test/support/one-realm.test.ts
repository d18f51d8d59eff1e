import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

declare const requireNatively: NodeJS.Require;

it('shares the realm of Node.js: its errors are instances of Error', () => {
  const read = () => readFileSync(join(__dirname, 'nowhere'));
  expect(read).toThrow(Error);
});

it('shares packages with Node.js, and loads project modules for each file', () => {
  expect(requireNatively('pg')).toBe(pg);
  const file = join(__dirname, 'text-transform.js');
  expect(requireNatively(file)).not.toBe(require(file));
});

it('is restored after a file that changed variables, console, exit or symbols', async () => {
  const Environment = requireNatively(join(__dirname, 'one-realm.js'));
  const { console, process } = globalThis;
  const before = { variables: { ...process.env }, console, exit: process.exit };
  const symbol = Symbol('of a test file');

  const projectConfig = { globals: {}, testEnvironmentOptions: {}, fakeTimers: {} };
  const environment = new Environment({ projectConfig }, {});
  process.env.PATH = 'changed';
  process.env.ADDED_BY_A_TEST = 'yes';
  Object.assign(globalThis, { console: {}, [symbol]: 1 });
  process.exit = () => undefined as never;
  await environment.teardown();

  expect({ variables: { ...process.env }, console: globalThis.console, exit: process.exit }).toEqual(before);
  expect(symbol in globalThis).toBe(false);
});
