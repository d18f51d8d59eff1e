import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { type NewMigration, newMigrations } from '../../../lib/checks/migrations';
import type { Cleanup } from '../../../local/cleanup';
import { stateFolder } from '../../../local/state';
import type { Check } from '../harness/checks';
import type { Harness } from '../harness/command';
import { Steps } from '../harness/steps';
import { examine, leaveMessages } from '../world/examine';
import { type HeldMessages, startMessageReceiver } from '../world/messages';
import { startProject } from '../world/project';
import { temporaryFolder } from '../world/temporary-folder';

export interface CompatibilityOptions {
  /** The folder of the release before. */
  readonly base: string;
  /** The folder of the release that may have to be taken back. */
  readonly change: string;
  /** End-to-end tests of each release, which run on its own functions. */
  readonly tests: readonly string[];
  readonly harness: Harness;
}

export interface Compatibility {
  readonly migrations: readonly NewMigration[];
  readonly checks: readonly Check[];
}

/** One of the releases, on what those before it left behind. */
export interface Deployment {
  readonly name: string;
  readonly release: 'base' | 'change';
  /** Whether it is only to leave data and messages behind. */
  readonly untested?: true;
}

/** Without the way back where a migration says that there is none. */
export function deploymentsFor(migrations: readonly NewMigration[]): readonly Deployment[] {
  const schema = migrations.length > 0 ? 'after its migrations' : "on the base's schema";
  const back = migrations.every(({ cannotBeTakenBack }) => cannotBeTakenBack === undefined);
  return [
    { name: 'base', release: 'base', untested: true },
    { name: `change ${schema}`, release: 'change' },
    ...(back ? ([{ name: "base on the change's schema", release: 'base' }] as const) : []),
  ];
}

/**
 * Deploys the base, the change on its data, and the base again on what the change made of them: as a deployment and its
 * taking back do it, migrations included. Each release is tested by its own `smoke` and tests: what its callers rely on.
 *
 * @throws Error for migrations of the base that were edited or removed, and for a header without a reason
 */
export async function runCompatibility(
  cleanup: Cleanup,
  options: CompatibilityOptions,
): Promise<Compatibility> {
  const { tests, harness } = options;
  const migrations = newMigrations(options.base, options.change);
  const deployments = deploymentsFor(migrations);
  const steps = new Steps(harness);
  const state = await temporaryFolder(cleanup);
  const { assemblyDirectory } = stateFolder(state);
  // The base need not be synthesized twice.
  const stacks = await temporaryFolder(cleanup);
  const receiver = await startMessageReceiver(cleanup);
  let queued: readonly HeldMessages[] = [];
  for (const deployment of deployments) {
    const { name, release, untested } = deployment;
    const project = { directory: options[release], state, signal: harness.signal };
    await move(join(stacks, release), assemblyDirectory);
    const running = await steps.check(`${name}: starts`, () => startProject(cleanup, project));
    if (!running) continue;
    if (!untested) await examine(steps, running, { name, receiver, queued, tests });
    if (deployment !== deployments.at(-1))
      queued = (await leaveMessages(steps, running, { name, receiver })) ?? [];
    await running.stop();
    await move(assemblyDirectory, join(stacks, release));
  }
  return { migrations, checks: steps.checks };
}

/** Moves what is there. */
async function move(from: string, to: string): Promise<void> {
  if (existsSync(from)) await rename(from, to);
}
