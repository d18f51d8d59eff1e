import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../architecture/sources';

/** A document of the project: its path from the root, and its Markdown. */
export interface Document {
  readonly path: string;
  readonly text: string;
}

export function readDocuments(): readonly Document[] {
  const inFolder = readdirSync(join(projectRoot, 'docs'), { recursive: true, encoding: 'utf8' });
  const paths = ['CHANGELOG.md', 'CONTRIBUTING.md', 'README.md', 'SECURITY.md'];
  paths.push(...inFolder.filter((path) => path.endsWith('.md')).map((path) => join('docs', path)));
  return paths.map((path) => ({ path, text: readFileSync(join(projectRoot, path), 'utf8') }));
}

/** Headings as link anchors, and custom ones: https://docs.github.com/en/get-started/writing-on-github, "Section links". */
export function anchorsOf(text: string): ReadonlySet<string> {
  const headings = Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading = '']) => heading.toLowerCase());
  const custom = Array.from(text.matchAll(/<a name="([^"]+)">/g), ([, name = '']) => name);
  return new Set([
    ...headings.map((heading) => heading.replace(/[^\w -]/g, '').replaceAll(' ', '-')),
    ...custom,
  ]);
}

/** Anchors in links to the runbook that do not exist. */
export function missingHeadings(text: string): string[] {
  const links = text.match(/\bdocs\/runbook[\w/-]*\.md#[\w-]+/g) ?? [];
  return links.filter((link) => {
    const [page = '', anchor = ''] = link.split('#');
    const path = join(projectRoot, page);
    return !existsSync(path) || !anchorsOf(readFileSync(path, 'utf8')).has(anchor);
  });
}
