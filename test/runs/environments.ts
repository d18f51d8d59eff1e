import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cleanup } from '../../local/cleanup';
import { removePostgres } from '../../local/postgres/postgres';
import { asLocalCommand, type LocalCommand } from '../support/local-command';
import { databaseDirectory } from '../support/local-database';
import { type LocalEnvironment, openLocalEnvironment } from '../support/local-environment';
import { startNodeIn } from '../support/node-process';
import { prepareAssembly } from '../support/prepared-state';
import { projectRoot, temporaryFolder } from './long-run';

export interface TemporaryEnvironments {
  readonly local: LocalEnvironment;
  readonly command: LocalCommand;
  /** The folder with the control files of `preload.cjs`. */
  readonly control: string;
  /** Why databases have no small file system; undefined if they have one. */
  readonly noDisks: string | undefined;
}

/** MiB. The cluster takes 40, its write-ahead log at most 80, and a few tables. */
const diskSize = 256;

/**
 * Runs these environments as `npm start` does, in a temporary folder and on free ports; `cleanup` stops and removes them.
 * Restarts a PostgreSQL that exits. Each database has its own small file system where root on Linux may mount one.
 */
export async function startEnvironments(
  cleanup: Cleanup,
  names: readonly string[],
  signal: AbortSignal,
): Promise<TemporaryEnvironments> {
  const directory = await temporaryFolder(cleanup);
  await prepareAssembly(directory);
  const control = join(directory, 'control');
  await mkdir(control);
  let noDisks: string | undefined;
  for (const name of names) {
    const folder = databaseDirectory(directory, name);
    cleanup.add(() => removePostgres(folder));
    await mkdir(folder, { recursive: true });
    noDisks ??= mountDisk(cleanup, folder);
  }
  const script = join(__dirname, 'restarting.ts');
  const command = asLocalCommand(
    startNodeIn(projectRoot, ['--require', 'tsx/cjs', script, directory, ...names], {
      RUN_CONTROL: control,
      NODE_OPTIONS: `--require ${join(__dirname, 'preload.cjs')}`,
    }),
  );
  const end = () => void command.process.kill('SIGTERM');
  signal.addEventListener('abort', end);
  cleanup.add(async () => {
    signal.removeEventListener('abort', end);
    end();
    await command.ended();
  });
  await command.ready();
  return { local: openLocalEnvironment(directory), command, control, noDisks };
}

/** @returns the reason when it fails */
function mountDisk(cleanup: Cleanup, folder: string): string | undefined {
  try {
    const options = ['-t', 'tmpfs', '-o', `size=${diskSize}m,mode=0700`, 'wallet-endurance', folder];
    execFileSync('mount', options, { stdio: 'pipe' });
  } catch (error) {
    return `no file system can be mounted here: ${(error as Error).message.trim().split('\n').at(-1)}`;
  }
  cleanup.add(() => execFileSync('umount', [folder]));
  return undefined;
}
