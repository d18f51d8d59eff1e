import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type NewMigration, newMigrations } from '../../../lib/checks/migrations';
import { stateFolder } from '../../../local/state/paths';
import { startLocalCommand, startNodeIn } from '../../support/local-command';
import { startWebhookReceiver, verifyDelivery, type WebhookReceiver } from '../../support/webhook-receiver';
import { Checks, type Harness, temporaryFolder } from '../long-run';

export interface CompatibilityOptions extends Harness {
  /** The folder of the previous release. */
  readonly base: string;
  /** The folder of the release that may be rolled back. */
  readonly change: string;
}

/** The releases in order of deployment; without the rollback if a migration rules it out. */
export const releasesFor = (migrations: readonly NewMigration[]): readonly ('base' | 'change')[] =>
  migrations.some(({ irreversible }) => irreversible) ? ['base', 'change'] : ['base', 'change', 'base'];

/**
 * Deploys the base, the change on its data, and the base again on the migrated data. Each must
 * pass its own `smoke`, and deliver what the previous release left on the queues.
 *
 * @throws Error for migrations of the base that were edited or removed, and for a header without a reason
 */
export async function runCompatibility(options: CompatibilityOptions) {
  const { signal, cleanup, progress } = options;
  const migrations = newMigrations(options.base, options.change);
  const checks = new Checks();
  /** A failure is a violation, reported with its lines. */
  const check = async <T>(name: string, work: () => Promise<T>): Promise<T | undefined> => {
    progress(name);
    try {
      const result = await work();
      checks.hold(name);
      return result;
    } catch (error) {
      signal.throwIfAborted();
      checks.hold(name, (error as Error).message.trimEnd());
      return undefined;
    }
  };
  const state = await temporaryFolder(cleanup);
  const { assemblyDirectory } = stateFolder(state);
  // The base is synthesized once.
  const assemblies = await temporaryFolder(cleanup);
  const receiver = await startWebhookReceiver();
  cleanup.add(() => receiver.stop());

  let waiting: readonly WaitingDelivery[] = [];
  for (const [index, release] of releasesFor(migrations).entries()) {
    const name = index === 2 ? "base on the change's schema" : release;
    const kept = join(assemblies, release);
    if (existsSync(kept)) {
      // Of a release that did not start.
      await rm(assemblyDirectory, { recursive: true, force: true });
      await rename(kept, assemblyDirectory);
    }
    const running = await check(`${name}: starts`, () => startRelease(options[release], state, options));
    if (!running) continue;
    const { environments, wallet } = running;
    // An environment may be gone.
    const known = waiting.filter(({ environment }) => environments.includes(environment));
    if (known.length > 0)
      await check(`${name}: delivers what the release before left on the queues`, () =>
        Promise.all(known.map((delivery) => receiveDelivery(delivery, receiver))),
      );
    for (const environment of environments)
      await check(`${name}: smoke in ${environment}`, () => wallet(environment, 'smoke'));
    waiting =
      (await check(`${name}: leaves deliveries on the queues`, () =>
        Promise.all(environments.map((each) => leaveDelivery(running, each, receiver))),
      )) ?? [];
    await running.stop();
    if (existsSync(assemblyDirectory)) await rename(assemblyDirectory, kept);
  }
  return { migrations, checks };
}

/** A project whose own `npm start` runs on a state folder. */
type RunningRelease = Awaited<ReturnType<typeof startRelease>>;

/** @throws Error with its output if it does not become ready */
async function startRelease(directory: string, state: string, { signal, cleanup }: Harness) {
  const run = async (...args: string[]) => {
    const program = startNodeIn(directory, ['--require', 'tsx/cjs', ...args]);
    const { exitCode, stdout, stderr } = await program.ended();
    if (exitCode === 0) return stdout;
    throw new Error(`node ${args.join(' ')} exited with ${exitCode}:\n${stdout}${stderr}`);
  };
  const names = "require('./lib/environments').environments.map(({ name }) => name)";
  const environments: string[] = JSON.parse(await run('--print', `JSON.stringify(${names})`));
  signal.throwIfAborted();
  const command = startLocalCommand(directory, '--state', state, '--port-offset', 'any');
  const stop = async () => {
    command.process.kill('SIGTERM');
    await command.ended();
  };
  cleanup.add(stop);
  signal.addEventListener('abort', () => void stop());
  await command.ready();
  const outputs = ['--outputs', stateFolder(state).outputsFile];
  return {
    environments,
    /** Runs its own command line. @returns stdout @throws Error with its output if it fails */
    wallet: (environment: string, ...args: string[]) =>
      run('bin/wallet.ts', ...args, '--environment', environment, ...outputs),
    stop,
  };
}

/** A delivery with a pending retry when its release stops. */
interface WaitingDelivery {
  readonly environment: string;
  readonly organizationId: string;
  readonly secret: string;
}

async function leaveDelivery(
  { wallet }: RunningRelease,
  environment: string,
  receiver: WebhookReceiver,
): Promise<WaitingDelivery> {
  const read = async (...args: string[]) => JSON.parse(await wallet(environment, ...args, '--json'));
  const { organizationId } = await read('seed');
  const organization = ['--organization', organizationId];
  receiver.answer(organizationId, 503);
  const { secret } = await read('webhook', 'add', ...organization, '--url', receiver.url(organizationId));
  const event = ['--kind', 'wallet.created', '--data', '{"wei":12345678901234567890}'];
  await read('send-event', ...organization, ...event);
  await receiver.received(organizationId, 1);
  return { environment, organizationId, secret };
}

async function receiveDelivery({ organizationId, secret }: WaitingDelivery, receiver: WebhookReceiver) {
  const before = await receiver.received(organizationId, 1);
  receiver.answer(organizationId, 204);
  const after = await receiver.received(organizationId, before.length + 1);
  const [first, last] = [before[0], after.at(-1)];
  if (!first || !last || first.body !== last.body) throw new Error('The body has changed.');
  verifyDelivery(last, secret, 'webhook-signature');
}
