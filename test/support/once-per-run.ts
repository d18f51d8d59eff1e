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

/** A folder that all test files of a run share, and that goes with it; undefined outside of Jest. See `share-folder.ts`. */
export const sharedFolder = (): string | undefined => process.env.SHARED_BY_TEST_RUN;

/**
 * What `make` gives, made once for all test files of a run, each of which has its own modules and memory. Files that need
 * it at the same moment may each make it.
 *
 * @param what names it: two things that differ need two names
 * @param make depends on `what` and the sources alone; what it throws is thrown, and kept for nobody
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
 * A folder that is made once in a run by the file that needs it first, while others wait; undefined outside of Jest. Copy it.
 *
 * @param make makes the folder, of which there is nothing yet but its parent
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
      // Another file may have made it just before.
      if (existsSync(folder)) continue;
      await make(unfinished);
      renameSync(unfinished, folder);
    } finally {
      rmdirSync(lock);
    }
  }
  return folder;
}
