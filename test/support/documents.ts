import { readdirSync, readFileSync } from 'node:fs';
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

/** Headings as link anchors: https://docs.github.com/en/get-started/writing-on-github, "Section links". */
export function anchorsOf(text: string): ReadonlySet<string> {
  const headings = Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading = '']) => heading.toLowerCase());
  return new Set(headings.map((heading) => heading.replace(/[^\w -]/g, '').replaceAll(' ', '-')));
}

/** Anchors in links to the runbook that do not exist. */
export function missingHeadings(text: string): string[] {
  const runbook = anchorsOf(readFileSync(join(projectRoot, 'docs/runbook.md'), 'utf8'));
  const links = Array.from(text.matchAll(/\brunbook\.md#([a-z0-9-]+)/g), ([, heading = '']) => heading);
  return links.filter((heading) => !runbook.has(heading));
}
