import { createHash } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What `make` gives, made once for all test files of a run, each of which has its own modules and memory. Files that need
 * it at the same moment may each make it. Another run makes it anew: `share-folder.ts` gives each run a new folder.
 *
 * @param what names it: two things that differ need two names
 * @param make depends on `what` and the sources alone; what it throws is thrown, and kept for nobody
 */
export function oncePerRun(what: string, make: () => string): string {
  const folder = process.env.SHARED_BY_TEST_RUN;
  if (!folder) throw new Error('SHARED_BY_TEST_RUN is not set: see jest.config.js.');
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
