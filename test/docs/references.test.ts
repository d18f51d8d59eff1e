import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot, sourcesIn } from '../architecture/sources';
import {
  type Document,
  deadReferences,
  missingHeadings,
  readDocuments,
  unlisted,
} from '../support/documents';

const documents = readDocuments();

it.each(documents)('$path has no dead reference', (document) => {
  expect(deadReferences(document)).toEqual([]);
});

it.each([
  ['see [it](nowhere.md)', 'nowhere.md'],
  ['see [it](runbook.md#nowhere)', 'runbook.md#nowhere'],
  ['see [it](#nowhere)', '#nowhere'],
  ['see `lib/nowhere.ts`', 'lib/nowhere.ts'],
  ['run `npx tsx test/support/nowhere.ts`', 'test/support/nowhere.ts'],
  ['run `npm run nothing -- --runs 1`', 'npm run nothing'],
])('"%s" in a document is a dead reference', (text, dead) => {
  expect(deadReferences({ path: 'docs/operating.md', text })).toEqual([dead]);
});

it('the index of decisions lists every record', () => {
  const index = documents.find(({ path }) => path === 'docs/decisions/README.md') as Document;
  expect(unlisted(index)).toEqual([]);
  expect(unlisted({ ...index, text: index.text.replace('](alarms.md)', '](alarm.md)') })).toEqual([
    'docs/decisions/alarms.md',
  ]);
});

it('the runbook has every heading that the source and the documents link to', () => {
  const texts = [...sourcesIn('cli', 'lambda', 'lib', 'local'), ...documents].map(({ text }) => text);
  expect(texts.filter((text) => text.includes('runbook.md#')).length).toBeGreaterThan(3);
  expect(texts.flatMap(missingHeadings)).toEqual([]);
  expect(missingHeadings('See docs/runbook.md#api-errors, docs/runbook.md#nowhere.')).toEqual(['nowhere']);
});

it('the changelog starts with unreleased changes, followed by the version in package.json', () => {
  const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
  const { text } = documents.find(({ path }) => path === 'CHANGELOG.md') as Document;
  const versions = Array.from(text.matchAll(/^## (\S+)/gm), ([, heading]) => heading);
  expect(versions.slice(0, 2)).toEqual(['Unreleased', version]);
});
