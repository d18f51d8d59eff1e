import { cp } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { allSettledOrThrow, type Cleanup } from '../../../local/cleanup';
import { openLocalDatabase } from '../../support/local-database';
import { startNodeIn } from '../../support/node-process';
import type { Check } from '../harness/checks';
import type { Harness } from '../harness/command';
import { Steps } from '../harness/steps';
import { examine, leaveMessages } from '../world/examine';
import { startMessageReceiver } from '../world/messages';
import { endedBy, startProject } from '../world/project';
import { temporaryFolder } from '../world/temporary-folder';
import { copyRows, digests } from './copy-rows';

/** One version of PostgreSQL. */
export interface Version {
  /** Begins the names of the checks. */
  readonly name: string;
  /** The project with this version. */
  readonly directory: string;
}

export interface UpgradeOptions {
  readonly from: Version;
  readonly to: Version;
  /** Tests of parts: paths. */
  readonly parts: readonly string[];
  /** End-to-end tests: paths. */
  readonly endToEnd: readonly string[];
  readonly harness: Harness;
}

/** Its files, and which migrations ran on it. */
const ofTheDatabase = new Set(['postgres', 'custom-resources.json']);

/**
 * Tests both versions, then carries the data of every environment from one to the other, row by row, and tests the new
 * version with them. Keys, secrets and functions stay as they are. There is no `pg_upgrade` in it.
 */
export async function runUpgrade(
  cleanup: Cleanup,
  { from, to, parts, endToEnd: tests, harness }: UpgradeOptions,
): Promise<readonly Check[]> {
  const { signal } = harness;
  const steps = new Steps(harness);
  for (const { name, directory } of [from, to])
    await steps.check(`${name}: migrations, roles, Data API`, () => testParts(directory, parts, signal));

  const receiver = await startMessageReceiver(cleanup);
  const [oldState, newState] = [await temporaryFolder(cleanup), await temporaryFolder(cleanup)];
  const start = ({ name, directory }: Version, state: string) =>
    steps.check(`${name}: starts`, () => startProject(cleanup, { directory, state, signal }));
  const old = await start(from, oldState);
  if (!old) return steps.checks;
  await examine(steps, old, { name: from.name, receiver, queued: [], tests });
  const queued = (await leaveMessages(steps, old, { name: from.name, receiver })) ?? [];

  await cp(join(oldState, 'environments'), join(newState, 'environments'), {
    recursive: true,
    filter: (path) => !ofTheDatabase.has(basename(path)),
  });
  const upgraded = await start(to, newState);
  if (!upgraded) return steps.checks;
  await steps.check(`${to.name}: has every row of ${from.name}`, () =>
    allSettledOrThrow(old.environments.map((environment) => carry(environment, oldState, newState))),
  );
  await old.stop();
  await examine(steps, upgraded, { name: `${to.name} with these rows`, receiver, queued, tests });
  await upgraded.stop();
  return steps.checks;
}

async function testParts(directory: string, paths: readonly string[], signal: AbortSignal): Promise<void> {
  const options = ['--selectProjects', 'parts', '--maxWorkers', '2'];
  const jest = startNodeIn(directory, ['node_modules/jest/bin/jest.js', ...paths, ...options]);
  const { exitCode, stderr } = await endedBy(signal, jest);
  if (exitCode !== 0) throw new Error(stderr);
}

/** Copies an environment's rows and compares them. */
async function carry(environment: string, oldState: string, newState: string): Promise<void> {
  const [from, to] = await Promise.all(
    [oldState, newState].map((state) => openLocalDatabase(state, environment)),
  );
  if (!from || !to) return;
  try {
    await copyRows(from.client, to.client);
    const [before, after] = [await digests(from.client), await digests(to.client)];
    const changed = Object.keys({ ...before, ...after }).filter((table) => before[table] !== after[table]);
    if (changed.length > 0)
      throw new Error(`${environment}: other rows than before in ${changed.join(', ')}`);
  } finally {
    await Promise.all([from.close(), to.close()]);
  }
}
