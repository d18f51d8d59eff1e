import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type SharedInRun = 'assembly' | 'cluster' | 'environments' | 'postgres';

/** What the run's main process shares with all test files (test-run.ts). */
export async function sharedInRun<Value = { readonly directory: string }>(name: SharedInRun): Promise<Value> {
  const response = await fetch(`${process.env.SHARED_IN_RUN_URL}${name}`);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Value;
}

/** Milliseconds: many times what anything takes, for a process that ended while it made it. */
const longest = 120_000;

/**
 * The result of `make`, cached for all test files of a run, which have separate modules and memory; not outside Jest.
 * Of files that need it at the same time, one makes it, and the others wait.
 *
 * @param what a unique name
 * @param make depends only on `what` and the sources; errors are thrown, not cached
 */
export function oncePerRun(what: string, make: () => string): string {
  if (!process.env.SHARED_IN_RUN_URL) return make();
  const file = join(tmpdir(), createHash('sha256').update(what).digest('hex'));
  const claim = `${file}.claim`;
  for (const end = Date.now() + longest; !isClaimed(claim) && Date.now() < end; ) {
    if (existsSync(file)) return readFileSync(file, 'utf8');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  }
  try {
    if (existsSync(file)) return readFileSync(file, 'utf8');
    const made = make();
    // Renamed when complete: others read it meanwhile.
    const unfinished = `${file}.${process.pid}`;
    writeFileSync(unfinished, made);
    renameSync(unfinished, file);
    return made;
  } finally {
    rmSync(claim, { force: true });
  }
}

function isClaimed(file: string): boolean {
  try {
    writeFileSync(file, '', { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}
