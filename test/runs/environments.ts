import { provideAssembly } from '../../local/assembly/assembly-cache';
import type { Cleanup } from '../../local/cleanup';
import type { Runtime } from '../../local/lambda/instance';
import { type Local, startLocal } from '../../local/start';
import { openState } from '../../local/state';
import { type LocalEnvironment, openLocalEnvironment } from '../support/local-environment';
import { temporaryFolder } from './long-run';

export interface TemporaryEnvironments extends LocalEnvironment {
  readonly postgres: Local['postgres'];
}

/** Runs these environments as `npm start` does, in this process, in a temporary folder and on free ports. */
export async function startEnvironments(
  cleanup: Cleanup,
  environments: readonly string[],
  { signal, runtime }: { readonly signal: AbortSignal; readonly runtime?: Runtime },
): Promise<TemporaryEnvironments> {
  const state = openState(await temporaryFolder(cleanup));
  cleanup.add(() => state.close());
  const { assemblyDirectory: assembly, directory } = state;
  await provideAssembly({ directory: assembly, signal });
  // Functions write their problems to the logs, too.
  const log = { step: () => undefined, problem: () => undefined };
  const local = await startLocal({
    ...{ assembly, state, environments, log, ports: 'any' },
    ...(runtime && { runtime }),
  });
  cleanup.add(() => local.stop());
  signal.throwIfAborted();
  return { ...openLocalEnvironment(directory), postgres: local.postgres };
}
