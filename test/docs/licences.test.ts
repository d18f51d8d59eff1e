import { readFileSync } from 'node:fs';
import { packageFolders } from '../support/bundled-packages';
import { deployableLicences, deployedLicences, licencesDocument, licencesFile } from '../support/licences';

it('docs/licences.md is what is installed and deployed; "npx tsx test/support/licences.ts" writes it', () => {
  expect(readFileSync(licencesFile, 'utf8')).toBe(licencesDocument());
});

it('no function carries a package whose licence asks for more than to keep its notice', () => {
  const deployed = deployedLicences();
  expect(deployed.size).toBeGreaterThan(20);
  expect([...deployed].filter(([, licence]) => !deployableLicences.includes(licence))).toEqual([]);
});

it('the page that browsers are given holds no package', () => {
  expect(packageFolders(['dashboard/page.ts'])).toEqual([]);
});
