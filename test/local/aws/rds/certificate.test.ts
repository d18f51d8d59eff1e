import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { localCertificate } from '../../../../local/aws/rds/certificate';
import { createAuthority } from '../../../support/certificates';
import { temporaryFolder } from '../../../support/temporary-folder';

const folder = temporaryFolder();
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000);

it.each([
  ['is valid', {}, true],
  ['is not valid yet, since the clock was wrong', { notBefore: inDays(2), notAfter: inDays(9) }, false],
  ['has expired', { notBefore: inDays(-9), notAfter: inDays(-2) }, false],
])('a stored certificate that %s', async (_, validity, isKept) => {
  const authority = await createAuthority();
  const { key, cert } = await authority.issue({ name: 'localhost', notAfter: inDays(9), ...validity });
  mkdirSync(folder(), { recursive: true });
  writeFileSync(join(folder(), 'localhost.pem'), cert);
  writeFileSync(join(folder(), 'localhost-key.pem'), key);
  const found = await localCertificate(folder());
  expect(found.cert === cert).toBe(isKept);
  expect(await localCertificate(folder())).toEqual(found);
});
