import { cpSync, existsSync, mkdtempSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { stateFolder } from '../../lib/local/state/state';
import { keepAssembly } from '../../lib/local/template/kept-assembly';
import { sharedFolder } from './once-per-run';

/** Puts the stacks into a new state folder, as an earlier start would have kept them there: made once in a run. */
export async function keepStacksIn(stateDirectory: string): Promise<void> {
  const folder = sharedFolder();
  if (!folder) return;
  const kept = join(folder, 'stacks');
  if (!existsSync(kept)) {
    const directory = join(mkdtempSync(`${kept}-`), 'made');
    await keepAssembly({ directory, signal: new AbortController().signal });
    // Another test file may have been faster.
    if (!existsSync(kept)) renameSync(directory, kept);
  }
  cpSync(kept, stateFolder(stateDirectory).assemblyDirectory, { recursive: true });
}
