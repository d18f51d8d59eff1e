import { environments } from '../../lib/environments';
import { startEnvironments } from '../../local/start';
import { claimStateFolder } from '../../local/state/claim';
import { type StateFolder, stateFolder } from '../../local/state/state';
import { keepAssembly } from '../../local/template/kept-assembly';
import { folderOncePerRun } from './once-per-run';
import { copyWithOwners } from './postgres';

/** Puts the stacks into a new state folder, as an earlier start would have kept them there: made once in a run. */
export async function keepStacksIn(stateDirectory: string): Promise<void> {
  const state = stateFolder(stateDirectory);
  claimStateFolder(state);
  const kept = await folderOncePerRun('stacks', async (directory) => {
    await keepAssembly({ directory, signal: new AbortController().signal });
  });
  if (kept) copyWithOwners(kept, state.assemblyDirectory);
}

/** The same with all that an earlier start of these environments would have left: databases, keys, certificates. */
export async function keepStateIn(stateDirectory: string, names: readonly string[]): Promise<void> {
  const to = stateFolder(stateDirectory);
  claimStateFolder(to);
  const kept = await folderOncePerRun('state', startOnce);
  if (!kept) return;
  const from = stateFolder(kept);
  const partsOf = (state: StateFolder) => [
    state.assemblyDirectory,
    state.certificatesDirectory,
    ...environments
      .filter(({ name }) => names.includes(name))
      .map((each) => state.environment(each).directory),
  ];
  for (const [index, part] of partsOf(from).entries()) copyWithOwners(part, partsOf(to)[index] as string);
}

async function startOnce(directory: string): Promise<void> {
  await keepStacksIn(directory);
  const anyPort = Object.fromEntries(environments.map(({ name }) => [name, 0]));
  const running = await startEnvironments({
    state: stateFolder(directory),
    environments,
    ports: anyPort,
    dashboardPorts: anyPort,
    fresh: false,
    signal: new AbortController().signal,
    onStep: () => undefined,
    onProblem: () => undefined,
  });
  await running.stop();
}
