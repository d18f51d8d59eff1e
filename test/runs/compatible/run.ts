import { stateFolder } from '../../../local/state/paths';
import { startLocalCommand, startNodeIn } from '../../support/local-command';
import { startWebhookReceiver, verifyDelivery, type WebhookReceiver } from '../../support/webhook-receiver';
import { type Harness, temporaryFolder } from '../long-run';
import { newMigrations } from './new-migrations';

export interface CompatibilityOptions extends Harness {
  /** The folder of the previous release. */
  readonly base: string;
  /** The folder of the release that may be rolled back. */
  readonly change: string;
}

/**
 * Deploys the base, the change on its data, and the base again on the migrated data. Each must pass its own `smoke`, and deliver
 * what the previous release left on the queues.
 *
 * @returns the names of the change's migrations
 * @throws Error with what failed, and for migrations of the base that were edited or removed
 */
export async function runCompatibility(options: CompatibilityOptions): Promise<readonly string[]> {
  const { signal, cleanup, progress, base, change } = options;
  const migrations = newMigrations(base, change);
  const releases = [
    ['base', base],
    ['change', change],
    ["base on the change's schema", base],
  ] as const;
  const state = await temporaryFolder(cleanup);
  const receiver = await startWebhookReceiver();
  cleanup.add(() => receiver.stop());

  let waiting: readonly WaitingDelivery[] = [];
  for (const [name, directory] of releases) {
    const step = async <T>(what: string, work: Promise<T>): Promise<T> => {
      progress(`${name}: ${what}`);
      try {
        return await work;
      } catch (error) {
        signal.throwIfAborted();
        throw new Error(`${name}: ${what}: ${(error as Error).message.trimEnd()}`);
      }
    };
    const running = await step('starts', startRelease(directory, state, options));
    const { environments, wallet } = running;
    // An environment may be gone.
    const known = waiting.filter(({ environment }) => environments.includes(environment));
    const receiving = Promise.all(known.map((delivery) => receiveDelivery(delivery, receiver)));
    await step('delivers what the release before left on the queues', receiving);
    for (const environment of environments)
      await step(`smoke in ${environment}`, wallet(environment, 'smoke'));
    const leaving = Promise.all(environments.map((each) => leaveDelivery(running, each, receiver)));
    waiting = await step('leaves deliveries on the queues', leaving);
    await running.stop();
  }
  return migrations;
}

/** A project whose own `npm start` runs on a state folder. */
type RunningRelease = Awaited<ReturnType<typeof startRelease>>;

/** @throws Error with its output if it does not become ready */
async function startRelease(directory: string, state: string, harness: Harness) {
  const run = async (...args: string[]) => {
    const program = startNodeIn(directory, ['--require', 'tsx/cjs', ...args]);
    const { exitCode, stdout, stderr } = await program.ended();
    if (exitCode === 0) return stdout;
    throw new Error(`node ${args.join(' ')} exited with ${exitCode}:\n${stdout}${stderr}`);
  };
  const names = "require('./lib/environments').environments.map(({ name }) => name)";
  const environments: string[] = JSON.parse(await run('--print', `JSON.stringify(${names})`));
  harness.signal.throwIfAborted();
  const command = startLocalCommand(directory, '--state', state, '--port-offset', 'any');
  const stop = async () => {
    command.process.kill('SIGTERM');
    await command.ended();
  };
  harness.cleanup.add(stop);
  harness.signal.addEventListener('abort', stop);
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
