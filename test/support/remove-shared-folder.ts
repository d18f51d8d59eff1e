import { rmSync } from 'node:fs';

/** Removes what `share-folder.ts` made. */
export default function removeSharedFolder(): void {
  const folder = process.env.SHARED_BY_TEST_RUN;
  if (folder) rmSync(folder, { recursive: true, force: true });
}
