import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { projectRoot, sourcesIn } from '../architecture/sources';
import { anchorsOf, missingHeadings, readDocuments } from '../support/documents';
import { flagsOf, walletCommands } from '../support/wallet-command';

const documents = readDocuments();
const walletOptions = new Set(walletCommands.flatMap(([, { options }]) => options.map(({ long }) => long)));
const { scripts } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));

const find = (text: string, pattern: RegExp) => Array.from(text.matchAll(pattern), ([, found = '']) => found);

function linkExists(path: string, link: string): boolean {
  if (/^[a-z]+:/.test(link)) return true;
  const [file = '', anchor] = link.split('#');
  const target = file === '' ? join(projectRoot, path) : resolve(projectRoot, dirname(path), file);
  return existsSync(target) && (!anchor || anchorsOf(readFileSync(target, 'utf8')).has(anchor));
}

/** From the root of the project; a folder, or a file without its ending, counts as well. */
function pathExists(path: string): boolean {
  const target = join(projectRoot, path);
  const siblings = existsSync(dirname(target)) ? readdirSync(dirname(target)) : [];
  return existsSync(target) || siblings.some((name) => name.startsWith(`${basename(target)}.`));
}

const link = /\]\(([^)\s]+)\)/g;
const codePath = /`(?:npx tsx )?((?:bin|cli|dashboard|docs|domain|lambda|lib|local|test|\.ci)\/[\w./-]+)`/g;
/** An option, by itself or of a command, that a sentence names. */
const option = /`((?:[a-z]+(?:-[a-z]+)* ){0,2})(--[a-z][a-z-]*)/g;
/** Of npm start, and of AWS's and the CDK's command lines. */
const othersOptions = ['watch', 'profile', 'region', 'help', 'cloudformation-execution-policies'].concat(
  ['resources-to-skip', 'allow-major-version-upgrade', 'deletion-mode', 'final-db-snapshot-identifier'],
  ['no-deletion-protection'],
);

/** The options in a text that neither a command of ours, nor, by themselves, anybody has. */
const unknownOptions = (text: string) =>
  Array.from(text.matchAll(option), ([, words = '', name = '']) => [words.trim(), name] as const)
    .filter(([words, name]) => {
      const flags = flagsOf(words) ?? flagsOf(`local ${words}`);
      if (words !== '') return flags && !flags.includes(name);
      return !walletOptions.has(name) && !othersOptions.includes(name.slice(2));
    })
    .map(([words, name]) => `${words} ${name}`);

const npmScript = /\bnpm run (?:-s )?([a-z][a-z:-]*)/g;

it.each(documents)('$path has no dead reference', ({ path, text }) => {
  expect(find(text, link).filter((target) => !linkExists(path, target))).toEqual([]);
  expect(find(text, codePath).filter((named) => !pathExists(named))).toEqual([]);
  expect(unknownOptions(text.replace(/^### Removed[\s\S]*/m, ''))).toEqual([]);
  expect(find(text, npmScript).filter((name) => !(name in scripts))).toEqual([]);
});

it('the runbook has every heading that the source links to', () => {
  const texts = sourcesIn('cli', 'lambda', 'lib', 'local').map(({ text }) => text);
  expect(texts.flatMap(missingHeadings)).toEqual([]);
});

it('each anchor of an alarm leads to the section of its name', () => {
  const index = documents.find(({ path }) => path === 'docs/runbook.md')?.text ?? '';
  const anchored = Array.from(index.matchAll(/<a name="(.*?)">.*?#([\w-]+)\)/g));
  expect(anchored.length).toBeGreaterThan(20);
  expect(anchored.map(([, name]) => name)).toEqual(anchored.map(([, , to]) => to));
});
