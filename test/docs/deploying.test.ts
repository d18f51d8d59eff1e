import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readAccountSettings } from '../../lib/account/settings';
import { projectRoot } from '../architecture/sources';
import { flagsOf } from '../support/wallet-commands';

const run = promisify(execFile);
const page = readFileSync(join(projectRoot, 'docs/deploying.md'), 'utf8');
const lines = Array.from(page.matchAll(/```sh\n([\s\S]+?)```/g), ([, block = '']) => block.split('\n'))
  .flat()
  .map((line) => line.replace(/\s+#.*/, '').trim())
  .filter(Boolean);
const flagsIn = (line: string) => Array.from(line.matchAll(/ (--[a-z-]+)(?= |$)/g), ([, flag = '']) => flag);

const walletLines = lines.filter((line) => line.startsWith('./wallet '));

it.each(walletLines)('%s', (line) => {
  const [name = '', ...rest] = line.replace('./wallet ', '').split(' ');
  expect(flagsOf(name)).toEqual(expect.arrayContaining(flagsIn(` ${rest.join(' ')}`)));
});

const cdkLines = lines.filter((line) => line.startsWith('npx cdk '));
const cdkCommands = [...new Set(cdkLines.map((line) => line.split(' ')[2] ?? ''))];

it.each(cdkCommands)('npx cdk %s has the options that it is given', async (command) => {
  const cdk = join(projectRoot, 'node_modules/.bin/cdk');
  const { stdout } = await run(cdk, [command, '--help'], { cwd: projectRoot });
  expect(stdout).toMatch(new RegExp(`^cdk ${command}`));
  const given = cdkLines.filter((line) => line.startsWith(`npx cdk ${command} `));
  for (const flag of given.flatMap(flagsIn)) expect(stdout).toMatch(new RegExp(`${flag}(?![\\w-])`));
});

it('gives the account stack the settings that it reads', () => {
  const line = lines.find((each) => each.startsWith('npm run -s account -- deploy')) ?? '';
  const context = Object.fromEntries(
    Array.from(line.matchAll(/-c ([a-z-]+)=(\S+)/g), ([, name, value]) => [name, value]),
  );
  expect(readAccountSettings((name) => context[name])).toMatchObject({
    repository: 'owner/name',
    region: 'eu-central-1',
    budget: 2000,
  });
  expect(page).toContain('`-c adopt-provider=true`');
});

it('has commands of each kind, and no other than these', () => {
  expect(walletLines.length).toBeGreaterThan(3);
  expect(
    lines.filter(
      (line) => !/^(\.\/wallet |npx cdk |npm run -s account -- |npm (ci|run synth)$|aws )/.test(line),
    ),
  ).toEqual([]);
});

it('names the variables that the workflows read, and the workflows', () => {
  const folder = join(projectRoot, '.github/workflows');
  const texts = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  const read = new Set(
    texts.flatMap((text) => Array.from(text.matchAll(/\bvars\.(\w+)/g), ([, name]) => name)),
  );
  const named = new Set(Array.from(page.matchAll(/^- `([A-Z_]+)` is/gm), ([, name]) => name));
  expect(named).toEqual(read);
  expect(texts.filter((text) => /\bsecrets\./.test(text))).toEqual([]);
  for (const workflow of ['deploy', 'smoke', 'move-origin', 'origin-status', 'drift'])
    expect(page).toContain(`\`${workflow}\``);
});
