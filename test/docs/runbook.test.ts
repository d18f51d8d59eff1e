import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { missingHeadings } from '../support/runbook';

const projectRoot = resolve(__dirname, '../..');

describe('the runbook', () => {
  it('has every heading that the source and the other documents link to', () => {
    const files = ['lib', 'lambda', 'docs', 'README.md'].flatMap((path) => textsOf(join(projectRoot, path)));
    expect(files.length).toBeGreaterThan(50);
    expect(files.flatMap(missingHeadings)).toEqual([]);
  });

  it('is found lacking when a link leads nowhere', () => {
    expect(missingHeadings('See docs/runbook.md#api-errors, docs/runbook.md#nowhere.')).toEqual(['nowhere']);
  });
});

function textsOf(path: string): string[] {
  if (/\.(ts|md)$/.test(path)) return [readFileSync(path, 'utf8')];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() || /\.(ts|md)$/.test(entry.name))
    .flatMap(({ name }) => textsOf(join(path, name)));
}
