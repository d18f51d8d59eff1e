import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';

const projectRoot = resolve(__dirname, '../..');

/** A document of the project: its path from the root, and its Markdown. */
export interface Document {
  readonly path: string;
  readonly text: string;
}

export function readDocuments(): readonly Document[] {
  const documents = readdirSync(join(projectRoot, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path));
  return ['CHANGELOG.md', 'CONTRIBUTING.md', 'README.md', 'SECURITY.md', ...documents].map((path) => ({
    path,
    text: readFileSync(join(projectRoot, path), 'utf8'),
  }));
}

/** Headings as link anchors: https://docs.github.com/en/get-started/writing-on-github, "Section links". */
export function anchorsOf(text: string): ReadonlySet<string> {
  const headings = text.split('\n').filter((line) => /^#+ /.test(line));
  return new Set(
    headings.map((line) =>
      line
        .replace(/^#+ /, '')
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    ),
  );
}

const runbook = anchorsOf(readFileSync(join(projectRoot, 'docs/runbook.md'), 'utf8'));

/** Anchors in links to the runbook that do not exist. */
export function missingHeadings(text: string): string[] {
  const links = Array.from(text.matchAll(/\brunbook\.md#([a-z0-9-]+)/g), ([, heading = '']) => heading);
  return links.filter((heading) => !runbook.has(heading));
}

const scripts: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(join(projectRoot, 'package.json'), 'utf8'),
).scripts;

/** Dead references of a document: links, paths, `npm run` scripts. */
export function deadReferences({ path, text }: Document): readonly string[] {
  return [...deadLinks(path, text), ...deadPaths(text), ...deadScripts(text)];
}

function deadLinks(path: string, text: string): string[] {
  const links = Array.from(text.matchAll(/\]\(([^)\s]+)\)/g), ([, link = '']) => link);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? join(projectRoot, path) : resolve(projectRoot, dirname(path), file);
    if (!existsSync(target)) return true;
    return anchor !== undefined && !anchorsOf(readFileSync(target, 'utf8')).has(anchor);
  });
}

/** Paths in code type, from the root of the project; a folder or a file without its ending counts as well. */
function deadPaths(text: string): string[] {
  const paths = Array.from(
    text.matchAll(/`(?:npx tsx )?((?:bin|cli|dashboard|docs|domain|lambda|lib|local|test|\.ci)\/[\w./-]+)`/g),
    ([, path = '']) => path,
  );
  return paths.filter((path) => {
    const target = join(projectRoot, path);
    if (existsSync(target)) return false;
    const folder = dirname(target);
    return (
      !existsSync(folder) || !readdirSync(folder).some((name) => name.startsWith(`${basename(target)}.`))
    );
  });
}

function deadScripts(text: string): string[] {
  const named = Array.from(text.matchAll(/\bnpm run (?:-s )?([a-z][a-z:-]*)/g), ([, name = '']) => name);
  return named.filter((name) => !(name in scripts)).map((name) => `npm run ${name}`);
}

/** Documents of a folder that its `README.md` does not link to. */
export function unlisted(index: Document): readonly string[] {
  const folder = dirname(join(projectRoot, index.path));
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .filter((name) => !index.text.includes(`](${name})`))
    .map((name) => relative(projectRoot, join(folder, name)));
}
