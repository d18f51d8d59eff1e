import { createHash } from 'node:crypto';
import { closeSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tryLockFile } from '../../local/shared/file-lock';

export type SharedInRun = 'assembly' | 'cluster' | 'environments' | 'postgres';

/** What the run's main process shares with all test files (test-run.ts). */
export async function sharedInRun<Value = { readonly directory: string }>(name: SharedInRun): Promise<Value> {
  const response = await fetch(`${process.env.SHARED_IN_RUN_URL}${name}`);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Value;
}

/**
 * The result of `make`, not empty, cached for all test files of a run, which have separate modules and memory; not outside Jest.
 * Of files that need it at the same time, one makes it, and the others wait. It depends only on `what` and the sources.
 */
export function oncePerRun(what: string, make: () => string): string {
  if (!process.env.SHARED_IN_RUN_URL) return make();
  const file = join(tmpdir(), createHash('sha256').update(what).digest('hex'));
  let lock = tryLockFile(file);
  for (; lock === 'held'; lock = tryLockFile(file))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  if (lock === 'unsupported') return make();
  try {
    const cached = readFileSync(file, 'utf8');
    if (cached) return cached;
    const made = make();
    writeFileSync(file, made);
    return made;
  } finally {
    closeSync(lock);
  }
}
