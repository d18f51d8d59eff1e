import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { anchorsOf } from './documents';

/** What links to the runbook name and its headings do not have. */
export function missingHeadings(text: string): string[] {
  const links = Array.from(text.matchAll(/\brunbook\.md#([a-z0-9-]+)/g), ([, heading = '']) => heading);
  return links.filter((heading) => !headings.has(heading));
}

const headings = anchorsOf(readFileSync(resolve(__dirname, '../../docs/runbook.md'), 'utf8'));
