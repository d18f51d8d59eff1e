import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../../local/processes';
import { serveSharedPostgres, stopSharedPostgres } from './shared-postgres';

/** In memory on Linux: five times as fast as a disk for the thousand files of a PostgreSQL. */
const memory = '/dev/shm';
/** Bytes: the suite uses less than one gigabyte. */
const enough = 4 * 1024 ** 3;
const prefix = 'wallet-test-run-';

/** Of this run. Jest may call more than one setup and teardown, and Stryker starts many runs in one process. */
let folder: string | undefined;
const temporary = tmpdir();

/** Creates the folder of all temporary files of the run, including shared ones (`once-per-run.ts`). */
export default async function shareFolder(): Promise<string> {
  if (folder) return folder;
  folder = inMemoryFolder() ?? mkdtempSync(join(temporary, prefix));
  // PostgreSQL and others run under their own accounts.
  chmodSync(folder, 0o711);
  process.env.SHARED_BY_TEST_RUN = folder;
  process.env.TMPDIR = folder;
  await serveSharedPostgres();
  return folder;
}

export async function removeSharedFolder(): Promise<void> {
  if (!folder) return;
  const removed = folder;
  folder = undefined;
  await stopSharedPostgres();
  rmSync(removed, { recursive: true, force: true });
}

function inMemoryFolder(): string | undefined {
  try {
    // Folders of killed runs would occupy memory.
    for (const name of readdirSync(memory)) {
      const [, pid] = /^wallet-test-run-(\d+)-/.exec(name) ?? [];
      if (pid && !isAlive(Number(pid))) rmSync(join(memory, name), { recursive: true, force: true });
    }
    const { bavail, bsize } = statfsSync(memory);
    if (bavail * bsize < enough) return undefined;
    const created = mkdtempSync(join(memory, `${prefix}${process.pid}-`));
    // Containers often mount it so that it runs no programs.
    const program = join(created, 'program');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
    execFileSync(program);
    return created;
  } catch {
    return undefined;
  }
}
