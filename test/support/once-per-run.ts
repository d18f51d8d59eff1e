import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A folder shared by all test files of a run, removed after it; undefined outside Jest. See `share-folder.ts`. */
export const sharedFolder = (): string | undefined => process.env.SHARED_BY_TEST_RUN;

/**
 * The result of `make`, cached for all test files of a run, which have separate modules and memory. Files that need
 * it at the same time may each compute it.
 *
 * @param what a unique name
 * @param make depends only on `what` and the sources; errors are thrown, not cached
 */
export function oncePerRun(what: string, make: () => string): string {
  const folder = sharedFolder();
  if (!folder) return make();
  const file = join(folder, createHash('sha256').update(what).digest('hex'));
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const made = make();
  // Renamed when complete: others read it meanwhile.
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, made);
  renameSync(unfinished, file);
  return made;
}

/**
 * A folder created once in a run by the first file that needs it, while others wait; undefined outside Jest. Copy it.
 *
 * @param make creates the folder; only its parent exists
 */
export async function folderOncePerRun(
  name: string,
  make: (directory: string) => Promise<void>,
): Promise<string | undefined> {
  const shared = sharedFolder();
  if (!shared) return undefined;
  const folder = join(shared, name);
  const lock = `${folder}.lock`;
  while (!existsSync(folder)) {
    try {
      mkdirSync(lock);
    } catch {
      await sleep(50);
      continue;
    }
    try {
      const unfinished = join(mkdtempSync(`${folder}-`), name);
      // Another file may just have created it.
      if (existsSync(folder)) continue;
      await make(unfinished);
      renameSync(unfinished, folder);
    } finally {
      rmdirSync(lock);
    }
  }
  return folder;
}
