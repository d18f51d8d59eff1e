import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removePostgres } from '../../lib/local/postgres/postgres';
import { stateFolder } from '../../lib/local/state/state';
import { type LocalCommand, startLocalCommand } from './local-command';
import { type LocalEnvironment, openLocalEnvironment } from './local-environment';

/** Environments of one's own, for what would trouble others. */
export interface TemporaryEnvironments {
  readonly local: LocalEnvironment;
  readonly command: LocalCommand;
  /** Ends them and removes what they kept. */
  stop(): Promise<void>;
}

/**
 * Runs `npm start` for these environments in a temporary folder, on free ports, until it is ready.
 *
 * @param signal ends them early, also while they start; `stop` is still to be called when they had started
 */
export async function startTemporaryEnvironments(
  names: readonly string[],
  signal?: AbortSignal,
): Promise<TemporaryEnvironments> {
  const directory = await mkdtemp(join(tmpdir(), 'wallet-test-'));
  const options = names.flatMap((name) => ['--environment', name, '--port', `${name}=0`]);
  const command = startLocalCommand('--state', directory, ...options);
  const end = () => command.process.kill('SIGTERM');
  signal?.addEventListener('abort', end);
  const stop = async () => {
    signal?.removeEventListener('abort', end);
    end();
    await command.ended();
    for (const name of names)
      await removePostgres(stateFolder(directory).environment(name).databaseDirectory);
    await rm(directory, { recursive: true });
  };
  try {
    await command.ready();
    return { local: openLocalEnvironment(directory), command, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
