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
import { eventually } from './eventually';

/** A folder shared by all test files of a run, removed after it; undefined outside Jest. See `share-folder.ts`. */
const sharedFolder = (): string | undefined => process.env.SHARED_BY_TEST_RUN;

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
  if (existsSync(file)) return readFileSync(file, 'utf8');
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
  // Throws while another file holds the lock.
  await eventually(() => existsSync(folder) || mkdirSync(lock), 90);
  if (existsSync(folder)) return folder;
  try {
    const unfinished = join(mkdtempSync(`${folder}-`), name);
    await make(unfinished);
    renameSync(unfinished, folder);
  } finally {
    rmdirSync(lock);
  }
  return folder;
}
