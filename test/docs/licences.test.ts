import { readFileSync } from 'node:fs';
import { packageFolders } from '../support/bundled-packages';
import { deployableLicences, deployedLicences, licencesDocument, licencesFile } from '../support/licences';

it('docs/licences.md matches what is installed and deployed; "npx tsx test/support/licences.ts" updates it', () => {
  expect(readFileSync(licencesFile, 'utf8')).toBe(licencesDocument());
});

it('no function bundles a package whose licence requires more than keeping its notice', () => {
  const deployed = deployedLicences();
  expect(deployed.size).toBeGreaterThan(20);
  expect([...deployed].filter(([, licence]) => !deployableLicences.includes(licence))).toEqual([]);
});

it('the page for browsers contains no package', () => {
  expect(packageFolders(['dashboard/page.ts'])).toEqual([]);
});
