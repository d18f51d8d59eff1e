import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../../local/processes';
import { serveSharedPostgres } from './shared-postgres';

/** In memory on Linux: five times as fast as a disk for the thousand files of a PostgreSQL. */
const inMemory = '/dev/shm';
/** Bytes: the suite uses less than one gigabyte. */
const enough = 4 * 1024 ** 3;
const prefix = 'wallet-test-run-';

/** Creates the folder of all temporary files of the run, including shared ones (`once-per-run.ts`). `remove-shared-folder.ts` removes it. */
export default async function shareFolder(): Promise<void> {
  const folder = inMemoryFolder() ?? mkdtempSync(join(tmpdir(), prefix));
  // PostgreSQL and others run under their own accounts.
  chmodSync(folder, 0o711);
  process.env.SHARED_BY_TEST_RUN = folder;
  process.env.TMPDIR = folder;
  await serveSharedPostgres();
}

function inMemoryFolder(): string | undefined {
  try {
    removeAbandoned();
    const { bavail, bsize } = statfsSync(inMemory);
    if (bavail * bsize < enough) return undefined;
    const folder = mkdtempSync(join(inMemory, `${prefix}${process.pid}-`));
    return runsPrograms(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Folders of killed runs would occupy memory. */
function removeAbandoned(): void {
  for (const name of readdirSync(inMemory)) {
    const [, pid] = /^wallet-test-run-(\d+)-/.exec(name) ?? [];
    if (pid && !isAlive(Number(pid))) rmSync(join(inMemory, name), { recursive: true, force: true });
  }
}

/** Containers often mount it so that it does not. Removes the folder then. */
function runsPrograms(folder: string): boolean {
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
  try {
    execFileSync(program);
    rmSync(program);
    return true;
  } catch {
    rmSync(folder, { recursive: true });
    return false;
  }
}
