import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cleanup } from '../../../local/cleanup';
import { removePostgres } from '../../../local/postgres/postgres';
import { stateFolder } from '../../../local/state';
import { startLocalCommandIn } from '../../support/local-command';
import { startNodeIn } from '../../support/node-process';

/** The project in some folder, at some commit, whose own `npm start` runs on a state folder. */
export interface RunningRelease {
  /** The names of its environments. */
  readonly environments: readonly string[];
  /** Runs its own command line on an environment. @returns stdout @throws Error with its output if it fails */
  wallet(environment: string, ...args: string[]): Promise<string>;
  stop(): Promise<void>;
}

/** @throws Error with its output if it does not become ready */
export async function startRelease(
  cleanup: Cleanup,
  { directory, state, signal }: { directory: string; state: string; signal: AbortSignal },
): Promise<RunningRelease> {
  const environments = await environmentsOf(directory);
  for (const name of environments) cleanup.add(() => removeDatabases(join(state, 'environments', name)));
  signal.throwIfAborted();
  const command = startLocalCommandIn(directory, '--state', state, '--port-offset', 'any');
  const stop = async () => {
    command.process.kill('SIGTERM');
    await command.ended();
  };
  cleanup.add(stop);
  signal.addEventListener('abort', () => void stop());
  await command.ready();
  const { outputsFile } = stateFolder(state);
  return {
    environments,
    wallet: (environment, ...args) =>
      succeed(directory, [
        ...['--require', 'tsx/cjs', 'bin/wallet.ts', ...args],
        ...['--environment', environment, '--outputs', outputsFile],
      ]),
    stop,
  };
}

async function environmentsOf(directory: string): Promise<string[]> {
  const script = `const { environments } = require('./lib/environments');
    console.log(JSON.stringify(environments.map(({ name }) => name)));`;
  return JSON.parse(await succeed(directory, ['--require', 'tsx/cjs', '--eval', script]));
}

async function succeed(directory: string, args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await startNodeIn(directory, args).ended();
  if (exitCode === 0) return stdout;
  throw new Error(`node ${args.join(' ')} exited with ${exitCode}:\n${stdout}${stderr}`);
}

/** Removes every database of an environment, including restored ones: the other release may have another row. */
async function removeDatabases(environmentFolder: string): Promise<void> {
  const names = await readdir(environmentFolder).catch(() => []);
  const databases = names.filter((name) => name.startsWith('postgres'));
  await Promise.all(databases.map((name) => removePostgres(join(environmentFolder, name))));
}
