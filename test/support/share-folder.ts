import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes the folder of `once-per-run.ts`; `remove-shared-folder.ts` removes it. */
export default function shareFolder(): void {
  process.env.SHARED_BY_TEST_RUN = mkdtempSync(join(tmpdir(), 'wallet-test-run-'));
}
