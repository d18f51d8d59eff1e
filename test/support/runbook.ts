import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** What links to the runbook name and its headings do not have. */
export function missingHeadings(text: string): string[] {
  const links = Array.from(text.matchAll(/\brunbook\.md#([a-z0-9-]+)/g), ([, heading = '']) => heading);
  return links.filter((heading) => !headings.has(heading));
}

/** As they stand in links: https://docs.github.com/en/get-started/writing-on-github, "Section links". */
const headings = new Set(
  readFileSync(resolve(__dirname, '../../docs/runbook.md'), 'utf8')
    .split('\n')
    .filter((line) => /^#{2,} /.test(line))
    .map((line) =>
      line
        .replace(/^#+ /, '')
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    ),
);
