import { rmSync } from 'node:fs';
import { stopSharedPostgres } from './shared-postgres';

/** Removes the folder of `share-folder.ts`. */
export default async function removeSharedFolder(): Promise<void> {
  await stopSharedPostgres();
  const folder = process.env.SHARED_BY_TEST_RUN;
  if (folder) rmSync(folder, { recursive: true, force: true });
}
