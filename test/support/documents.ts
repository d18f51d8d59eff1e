import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { projectRoot, readSource, type SourceFile } from '../architecture/sources';

export function readDocuments(): readonly SourceFile[] {
  const inFolder = readdirSync(join(projectRoot, 'docs'), { recursive: true, encoding: 'utf8' });
  const paths = ['CHANGELOG.md', 'CONTRIBUTING.md', 'README.md', 'SECURITY.md'];
  paths.push(...inFolder.filter((path) => path.endsWith('.md')).map((path) => join('docs', path)));
  return paths.map((path) => ({ path, text: readSource(path) }));
}

/** The blocks of code under a heading, up to the next heading. @param path from the root */
export function codeUnder(path: string, heading: string): readonly string[] {
  const page = `\n${readSource(path)}`;
  const [, rest = ''] = page.split(new RegExp(`\\n#+ ${heading.replace(/[()]/g, '\\$&')}\\n`));
  // Comments of shell and Python begin like headings.
  const blocks = Array.from(rest.matchAll(/^#+ |^```\w+\n([\s\S]*?)^```$/gm), ([, code]) => code);
  return blocks.slice(0, [...blocks, undefined].indexOf(undefined)) as string[];
}

export function load<Exports>(code: string): Exports {
  const module = { exports: {} as Exports };
  const { code: text } = transformSync(code, { loader: 'ts', format: 'cjs' });
  new Function('require', 'module', 'exports', text)(require, module, module.exports);
  return module.exports;
}

/** Headings as link anchors, and custom ones: https://docs.github.com/en/get-started/writing-on-github, "Section links". */
export function anchorsOf(text: string): ReadonlySet<string> {
  const headings = Array.from(text.toLowerCase().matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading.replace(/[^\w -]/g, '').replaceAll(' ', '-'),
  );
  return new Set([...headings, ...Array.from(text.matchAll(/<a name="([^"]+)">/g), ([, name = '']) => name)]);
}

/** Anchors in links to the runbook that do not exist. */
export function missingHeadings(text: string): string[] {
  const links = text.match(/\bdocs\/runbook[\w/-]*\.md#[\w-]+/g) ?? [];
  return links.filter((link) => {
    const [page = '', anchor = ''] = link.split('#');
    return !existsSync(join(projectRoot, page)) || !anchorsOf(readSource(page)).has(anchor);
  });
}
