import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { StateFolder } from './state';

/** A folder that cannot hold the state, or whose files are not the state's: nothing in it was touched. */
export class StateFolderRefused extends Error {
  override readonly name = 'StateFolderRefused';
  constructor(reason: string) {
    super(`${reason} Give another folder for the state with --state DIR.`);
  }
}

/** Marks a folder whose files are ours to overwrite and to remove. */
const mark = '.wallet-state';
const markText =
  'npm start keeps its state in this folder, and overwrites and removes files. Keep nothing else here.\n';

/**
 * Makes a folder the state's, or finds that it is. Starts that come at once may do so all: the lock decides between them.
 *
 * @throws StateFolderRefused when it cannot be made or read, or has files that are not ours
 */
export function claimStateFolder(state: StateFolder): void {
  const { directory } = state;
  const names = attempt(() => {
    makeFolder(directory);
    return readdirSync(directory);
  });
  const has = (file: string) => names.includes(basename(file));
  // The addresses of a start are never without their endpoints.
  if (has(state.outputsFile) && !has(state.endpointsFile)) {
    throw new StateFolderRefused(
      `${state.outputsFile} is not from a local environment, and would be overwritten: move it away.`,
    );
  }
  if (has(mark)) return;
  if (names.length > 0 && !isOfEarlierVersion(names)) {
    throw new StateFolderRefused(
      `${directory} holds other files (${names.sort()[0]}, for one), and npm start overwrites and removes what is in the way.`,
    );
  }
  attempt(() => writeFileSync(join(directory, mark), markText));
}

function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new StateFolderRefused(`${(error as Error).message}.`);
  }
}

/** `mkdir`'s own recursion never ends below a folder that takes no others, such as `/proc`. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
}

/** What versions up to 2.0.249 made, which left no mark. */
const ofEarlierVersions =
  /^(certificates|environments|snapshots|logs|cdk\.out(\.new)?|(lock|outputs\.json|endpoints\.json)(\..*)?)$/;

/** A start made certificates and environments first of all; a folder with anything else may be somebody's own. */
function isOfEarlierVersion(names: readonly string[]): boolean {
  return (
    ['certificates', 'environments'].every((name) => names.includes(name)) &&
    names.every((name) => ofEarlierVersions.test(name))
  );
}
