import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isAlive } from '../../local/processes';
import { serveSharedPostgres } from './shared-postgres';

/** Linux keeps it in memory. Making and removing the thousand files of a PostgreSQL takes a disk five times as long. */
const inMemory = '/dev/shm';
/** Bytes: the suite uses less than one gigabyte. */
const enough = 4 * 1024 ** 3;
const prefix = 'wallet-test-run-';

/** Makes the folder of all temporary files of the run, shared ones too: `once-per-run.ts`. `remove-shared-folder.ts` removes it. */
export default async function shareFolder(): Promise<void> {
  const folder = inMemoryFolder() ?? mkdtempSync(join(tmpdir(), prefix));
  // PostgreSQL and others have an account of their own.
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

/** Those of runs that were killed would occupy memory. */
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
