import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cleanup } from '../../../local/cleanup';
import { removePostgres } from '../../../local/postgres/postgres';
import { keepStacksIn, keepStateIn } from '../../support/kept-state';
import { asLocalCommand, type LocalCommand } from '../../support/local-command';
import { databaseDirectory } from '../../support/local-database';
import { type LocalEnvironment, openLocalEnvironment } from '../../support/local-environment';
import { startNodeIn } from '../../support/node-process';
import { projectRoot } from './project';
import { temporaryFolder } from './temporary-folder';

export interface TemporaryEnvironments {
  readonly local: LocalEnvironment;
  readonly command: LocalCommand;
  /** Its files tell the preloaded script what to do. */
  readonly control: string;
}

export interface TemporaryOptions {
  /** Ends the environments early, also while they start. */
  readonly signal?: AbortSignal;
  /** A script of `inside`, loaded first into the process of the environments and those of their functions. */
  readonly preload?: 'faults' | 'memory';
  /** Called before the start with the folder of each environment's database. */
  prepare?(environment: string, databaseFolder: string): Promise<void>;
}

/**
 * Runs these environments as `npm start` does, in a temporary folder and on free ports; `cleanup` ends and removes them. A
 * PostgreSQL that ends is started again.
 */
export async function startTemporaryEnvironments(
  cleanup: Cleanup,
  names: readonly string[],
  { signal, preload, prepare }: TemporaryOptions = {},
): Promise<TemporaryEnvironments> {
  const directory = await temporaryFolder(cleanup);
  // A disk may be mounted where the database would be.
  await (prepare ? keepStacksIn(directory) : keepStateIn(directory, names));
  const control = join(directory, 'control');
  await mkdir(control);
  for (const name of names) {
    const folder = databaseDirectory(directory, name);
    cleanup.add(() => removePostgres(folder));
    await prepare?.(name, folder);
  }
  const variables = preload && {
    RUN_CONTROL: control,
    RUN_SCRIPT: join(__dirname, 'inside', `${preload}.cjs`),
    NODE_OPTIONS: `--require ${join(__dirname, 'inside', 'preload.cjs')}`,
  };
  const script = join(__dirname, 'restarting.ts');
  const command = asLocalCommand(
    startNodeIn(projectRoot, ['--require', 'tsx/cjs', script, directory, ...names], variables),
  );
  const end = () => void command.process.kill('SIGTERM');
  signal?.addEventListener('abort', end);
  cleanup.add(async () => {
    signal?.removeEventListener('abort', end);
    end();
    await command.ended();
  });
  signal?.throwIfAborted();
  await command.ready();
  return { local: openLocalEnvironment(directory), command, control };
}
