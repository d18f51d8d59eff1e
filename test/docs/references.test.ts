import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { projectRoot, sourcesIn } from '../architecture/sources';
import { anchorsOf, type Document, missingHeadings, readDocuments } from '../support/documents';

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

/** Links, paths in code type, and scripts of npm that do not exist. */
const deadReferences = ({ path, text }: Document): readonly string[] => [
  ...find(text, link).filter((target) => !linkExists(path, target)),
  ...find(text, codePath).filter((named) => !pathExists(named)),
  ...find(text, npmScript).filter((name) => !(name in scripts)),
];

it.each(documents)('$path has no dead reference', (document) => {
  expect(deadReferences(document)).toEqual([]);
});

it.each([
  ['see [it](nowhere.md)', 'nowhere.md'],
  ['see [it](runbook.md#nowhere)', 'runbook.md#nowhere'],
  ['see `lib/nowhere.ts`', 'lib/nowhere.ts'],
  ['run `npm run nothing -- --runs 1`', 'nothing'],
])('"%s" in a document is a dead reference', (text, dead) => {
  expect(deadReferences({ path: 'docs/operating.md', text })).toEqual([dead]);
});

it('the runbook has every heading that the source links to', () => {
  const texts = sourcesIn('cli', 'lambda', 'lib', 'local').map(({ text }) => text);
  expect(texts.flatMap(missingHeadings)).toEqual([]);
  expect(missingHeadings('docs/runbook.md#api-errors, docs/runbook/alarms.md#no.')).toEqual([
    'docs/runbook/alarms.md#no',
  ]);
});

it('the runbook has a line for every section, and each anchor of an alarm leads to the section of its name', () => {
  const pages = documents.filter(({ path }) => path.startsWith('docs/runbook/'));
  const index = documents.find(({ path }) => path === 'docs/runbook.md')?.text ?? '';
  const sections = pages.flatMap(({ path, text }) => {
    const headings = find(text, /^##+ (.*)$/gm);
    return headings.flatMap((heading) => [...anchorsOf(`# ${heading}`)].map((name) => `${path}#${name}`));
  });
  const lines = find(index, /\]\((runbook\/[^)]*#[^)]*)\)/g).map((target) => `docs/${target}`);
  expect(new Set(lines)).toEqual(new Set(sections));
  const anchored = Array.from(index.matchAll(/<a name="(.*?)">.*?#([\w-]+)\)/g));
  expect(anchored.length).toBeGreaterThan(20);
  expect(anchored.map(([, name]) => name)).toEqual(anchored.map(([, , to]) => to));
});
