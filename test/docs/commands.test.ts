import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readAccountSettings } from '../../lib/account/settings';
import { projectRoot } from '../architecture/sources';
import { readDocuments } from '../support/documents';
import { flagsOf } from '../support/wallet-commands';

const run = promisify(execFile);
const text = readDocuments()
  .filter(({ path }) => path !== 'CHANGELOG.md')
  .map((document) => document.text)
  .join('\n');
const page = readFileSync(join(projectRoot, 'docs/deploying.md'), 'utf8');

/** What stands after a command's name, up to the end of its code or to a comment. */
const uses = (command: string) => [
  ...new Set(Array.from(text.matchAll(new RegExp(`${command} ([^\`\n]*)`, 'g')), ([, use = '']) => use)),
];
const flagsIn = (use: string) =>
  Array.from(use.replace(/\s#.*/, '').matchAll(/(?:^|\s)(--[a-z-]+)/g), ([, flag = '']) => flag);

const walletUses = uses('\\./wallet').filter((use) => /^[a-z]/.test(use));

it.each(walletUses)('./wallet %s', (use) => {
  const [, first = '', second = ''] = /^([a-z-]+)(?: ([a-z-]+))?/.exec(use) ?? [];
  const flags = flagsOf(`${first} ${second}`) ?? flagsOf(first) ?? flagsOf(`local ${first}`);
  expect(flags).toEqual(expect.arrayContaining(flagsIn(use)));
});

it('the documents use the command line', () => {
  expect(walletUses.length).toBeGreaterThan(20);
});

const cdkUses = uses('npx cdk').filter((use) => /^[a-z]/.test(use));
const cdkCommands = [...new Set(cdkUses.map((use) => /^[a-z]+/.exec(use)?.[0] ?? ''))];

it.each(cdkCommands)('npx cdk %s has the options that it is given', async (command) => {
  const cdk = join(projectRoot, 'node_modules/.bin/cdk');
  const { stdout } = await run(cdk, [command, '--help'], { cwd: projectRoot });
  expect(stdout).toMatch(new RegExp(`^cdk ${command}`));
  const given = cdkUses.filter((use) => use.startsWith(command)).flatMap(flagsIn);
  for (const flag of given) expect(stdout).toMatch(new RegExp(`${flag}(?![\\w-])`));
});

it('gives the account stack the settings that it reads', () => {
  const line = page.split('\n').find((each) => each.startsWith('npm run -s account -- deploy')) ?? '';
  const context = Object.fromEntries(
    Array.from(line.matchAll(/-c ([a-z-]+)=(\S+)/g), ([, name, value]) => [name, value]),
  );
  expect(readAccountSettings((name) => context[name])).toMatchObject({
    repository: 'owner/name',
    region: 'eu-central-1',
    budget: 2000,
  });
});

it('names the variables that the workflows read', () => {
  const folder = join(projectRoot, '.github/workflows');
  const workflows = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  const read = workflows.flatMap((workflow) =>
    Array.from(workflow.matchAll(/\bvars\.(\w+)/g), ([, name]) => name),
  );
  const named = Array.from(page.matchAll(/^- `([A-Z_]+)` is/gm), ([, name]) => name);
  expect(new Set(named)).toEqual(new Set(read));
  expect(workflows.filter((workflow) => /\bsecrets\./.test(workflow))).toEqual([]);
});
