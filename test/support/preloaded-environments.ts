import type { Environment } from '../../lib/environment/environment';
import type { Cleanup } from '../../lib/local/cleanup';
import { type LocalCommand, startLocalCommand } from './local-command';
import { type LocalEnvironment, openLocalEnvironment } from './local-environment';

export interface PreloadedOptions {
  /** The state folder. */
  readonly directory: string;
  readonly environments: readonly Environment[];
  /** A CommonJS file that is loaded into the process of `npm start` before anything else. */
  readonly script: string;
  readonly variables: Readonly<Record<string, string>>;
}

/** Runs `npm start` with a script of the caller's in its process, on free ports, until `cleanup`. */
export async function startPreloadedEnvironments(
  cleanup: Cleanup,
  { directory, environments, script, variables }: PreloadedOptions,
): Promise<{ readonly local: LocalEnvironment; readonly command: LocalCommand }> {
  const names = environments.flatMap(({ name }) => ['--environment', name, '--port', `${name}=0`]);
  const added = { ...variables, NODE_OPTIONS: `--require ${script}` };
  Object.assign(process.env, added);
  const command = startLocalCommand('--state', directory, ...names);
  for (const name of Object.keys(added)) delete process.env[name];
  cleanup.add(async () => {
    command.process.kill('SIGTERM');
    await command.ended();
  });
  await command.ready();
  return { local: openLocalEnvironment(directory), command };
}
