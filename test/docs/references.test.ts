import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { projectRoot, sourcesIn } from '../architecture/sources';
import { anchorsOf, missingHeadings, readDocuments } from '../support/documents';

const documents = readDocuments();
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
const npmScript = /\bnpm run (?:-s )?([a-z][a-z:-]*)/g;

it.each(documents)('$path has no dead reference', ({ path, text }) => {
  expect(find(text, link).filter((target) => !linkExists(path, target))).toEqual([]);
  expect(find(text, codePath).filter((named) => !pathExists(named))).toEqual([]);
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
