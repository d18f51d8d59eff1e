import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Environment, RestoreSource } from '../lib/environment/environment';
import type { StateFolder } from './state/state';

/**
 * Prepares the folder of an environment's PostgreSQL. The data of a restored one comes from `snapshots/NAME` in the state
 * folder, once: a copy of such a folder of a stopped environment. NAME is that of the snapshot, or `CLUSTER-at-TIME`, each
 * `:` as `-`. Without such a copy the database begins empty, as on another machine: `onStep` gets a line.
 *
 * @returns the folder
 * @throws Error when the copy was made while PostgreSQL ran
 */
export async function prepareDatabase(
  environment: Environment,
  state: StateFolder,
  onStep: (step: string) => void,
): Promise<string> {
  const { restoreFrom } = environment.database;
  const directory = state.environment(environment).databaseDirectory;
  if (restoreFrom === undefined || existsSync(directory)) return directory;
  const snapshot = join(state.snapshotsDirectory, snapshotName(restoreFrom));
  if (!existsSync(snapshot)) {
    onStep(`There is no ${snapshot}: the restored database of ${environment.name} begins empty`);
    return directory;
  }
  if (existsSync(join(snapshot, 'cluster', 'data', 'postmaster.pid'))) {
    throw new Error(
      `${snapshot} was copied while PostgreSQL ran. Stop the environments with Ctrl-C, and copy the folder again.`,
    );
  }
  await copyFolder(snapshot, directory);
  onStep(`Restored the database of ${environment.name} from ${snapshot}`);
  return directory;
}

function snapshotName(source: RestoreSource): string {
  const name =
    'snapshot' in source
      ? source.snapshot.split(':').slice(6).join(':')
      : `${source.cluster}-at-${source.time}`;
  return name.replaceAll(':', '-');
}

/** With owners: as root, PostgreSQL's files belong to another account. Complete or not there at all. */
async function copyFolder(from: string, to: string): Promise<void> {
  const draft = `${to}.unfinished`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(dirname(to), { recursive: true });
  await promisify(execFile)('cp', ['-Rp', from, draft]);
  await rename(draft, to);
}
