import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cleanup } from '../../../local/cleanup';

/** A folder that `cleanup` removes. Something that an interruption killed may still write into it for a moment. */
export async function temporaryFolder(cleanup: Cleanup): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'wallet-run-'));
  cleanup.add(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
  return directory;
}
