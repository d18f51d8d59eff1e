import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAccountSettings } from '../../lib/account/settings';
import { projectRoot } from '../architecture/sources';
import { readDocuments } from '../support/documents';
import { flagsOf } from '../support/wallet-commands';

const text = readDocuments()
  .filter(({ path }) => path !== 'CHANGELOG.md')
  .map((document) => document.text)
  .join('\n');
const page = readFileSync(join(projectRoot, 'docs/deploying.md'), 'utf8');

/** The arguments after a command's name, up to the end of the code or a comment. */
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

/** The commands and options of the CDK's command line. */
const { commands, globalOptions } = JSON.parse(
  readFileSync(join(projectRoot, 'node_modules/aws-cdk/lib/cli/cli-type-registry.json'), 'utf8'),
) as {
  readonly globalOptions: object;
  readonly commands: Readonly<Record<string, { readonly options?: object }>>;
};
const cdkUses = uses('npx cdk').filter((use) => /^[a-z]/.test(use));

it.each(cdkUses)('npx cdk %s', (use) => {
  const command = commands[/^[a-z]+/.exec(use)?.[0] ?? ''];
  expect(command).toBeDefined();
  const options = Object.keys({ ...globalOptions, ...command?.options }).map((name) => `--${name}`);
  expect(options).toEqual(expect.arrayContaining(flagsIn(use)));
});

it('passes the account stack the settings that it reads', () => {
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
