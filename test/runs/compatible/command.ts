import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { stateFolder } from '../../../local/state/paths';
import { projectRoot } from '../../architecture/sources';
import { startNodeIn } from '../../support/local-command';
import { startWebhookReceiver, verifyDelivery, type WebhookReceiver } from '../../support/webhook-receiver';
import { type Harness, longRun, startProject, temporaryFolder } from '../long-run';

const command = new Command('npm run compatible --')
  .description(
    'Deploys the base, this change, and the base again to local environments, on the same data: can the change be rolled back? Each must pass its own smoke test, and deliver what the release before left on the queues.',
  )
  .option('--base <commit>', 'default: the merge base with origin/main, on main itself the first parent');

void longRun<{ base?: string }>(command, async ({ base = usualBase() }, harness) => {
  const { signal, cleanup, progress } = harness;
  if (isFirstCommit()) return { report: 'Nothing to compare: the repository has one commit.', failed: false };
  const directory = await openBase(base, harness);
  const releases = [
    ['base', directory],
    ['change', projectRoot],
    ["base on the change's schema", directory],
  ] as const;
  const state = await temporaryFolder(cleanup);
  const receiver = await startWebhookReceiver();
  cleanup.add(() => receiver.stop());

  let waiting: readonly WaitingDelivery[] = [];
  for (const [name, folder] of releases) {
    const step = async <T>(what: string, work: Promise<T>): Promise<T> => {
      progress(`${name}: ${what}`);
      try {
        return await work;
      } catch (error) {
        signal.throwIfAborted();
        throw new Error(`${name}: ${what}: ${(error as Error).message.trimEnd()}`);
      }
    };
    const running = await step('starts', startRelease(folder, state, harness));
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
  return { report: 'Every release passed its smoke test.', failed: false };
});

function git(...args: string[]): string {
  return spawnSync('git', args, { cwd: projectRoot, encoding: 'utf8' }).stdout.trim();
}

function usualBase(): string {
  const fork = git('merge-base', 'HEAD', 'origin/main');
  return fork === '' || fork === git('rev-parse', 'HEAD') ? 'HEAD^1' : fork;
}

/** In a shallow clone, earlier ones are missing. */
function isFirstCommit(): boolean {
  const count = git('rev-list', '--count', 'HEAD');
  return count === '1' && git('rev-parse', '--is-shallow-repository') === 'false';
}

/** A folder with the commit and its packages. */
async function openBase(base: string, { cleanup, progress }: Harness): Promise<string> {
  const commit = git('rev-parse', '--verify', '--end-of-options', `${base}^{commit}`);
  if (commit === '') {
    const said = spawnSync('git', ['rev-parse', base], { cwd: projectRoot, encoding: 'utf8' }).stderr;
    throw new Error(`git has no commit "${base}". Fetch it, or give another by --base.\n${said}`);
  }
  const migrations = 'lambda/database/migrations/*.sql';
  const edited = git('diff', '--name-only', '--diff-filter=a', commit, '--', migrations);
  if (edited !== '')
    throw new Error(
      `Edited or removed, and maybe applied: ${edited}. Restore the file, and add a new migration.`,
    );
  const directory = await temporaryFolder(cleanup);
  progress(`Base: ${git('log', '-1', '--format=%h %s', commit)}`);
  // As it is stored, whatever line ends this clone prefers.
  const archiving = ['-c', 'core.autocrlf=false', 'archive', commit];
  const input = execFileSync('git', archiving, { cwd: projectRoot, maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', directory], { input });
  const locks = [directory, projectRoot].map((each) => join(each, 'package-lock.json'));
  const [theirs, ours] = locks.map((lock) => readFileSync(lock, 'utf8'));
  if (theirs === ours) symlinkSync(join(projectRoot, 'node_modules'), join(directory, 'node_modules'));
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: directory, stdio: 'ignore' });
  return directory;
}

type RunningRelease = Awaited<ReturnType<typeof startRelease>>;

/** A project whose own `npm start` runs on a state folder. @throws Error with its output if it does not become ready */
async function startRelease(directory: string, state: string, harness: Harness) {
  const run = async (...args: string[]) => {
    const { exitCode, stdout, stderr } = await startNodeIn(directory, [
      '--require',
      'tsx/cjs',
      ...args,
    ]).ended();
    if (exitCode === 0) return stdout;
    throw new Error(`node ${args.join(' ')} exited with ${exitCode}:\n${stdout}${stderr}`);
  };
  const names = "require('./lib/environments').environments.map(({ name }) => name)";
  const environments: string[] = JSON.parse(await run('--print', `JSON.stringify(${names})`));
  harness.signal.throwIfAborted();
  const { stop } = await startProject(directory, state, harness);
  const outputs = ['--outputs', stateFolder(state).outputsFile];
  /** Runs its own command line. @returns stdout @throws Error with its output if it fails */
  const wallet = (environment: string, ...args: string[]) =>
    run('bin/wallet.ts', ...args, '--environment', environment, ...outputs);
  return { environments, wallet, stop };
}

/** A delivery with a pending retry when its release stops. */
type WaitingDelivery = Awaited<ReturnType<typeof leaveDelivery>>;

async function leaveDelivery({ wallet }: RunningRelease, environment: string, receiver: WebhookReceiver) {
  const read = async (...args: string[]) => JSON.parse(await wallet(environment, ...args, '--json'));
  const organizationId: string = (await read('seed')).organizationId;
  const organization = ['--organization', organizationId];
  receiver.answer(organizationId, 503);
  const added = await read('webhook', 'add', ...organization, '--url', receiver.url(organizationId));
  const event = ['--kind', 'wallet.created', '--data', '{"wei":12345678901234567890}'];
  await read('send-event', ...organization, ...event);
  await receiver.received(organizationId, 1);
  return { environment, organizationId, secret: added.secret as string };
}

async function receiveDelivery({ organizationId, secret }: WaitingDelivery, receiver: WebhookReceiver) {
  const before = await receiver.received(organizationId, 1);
  receiver.answer(organizationId, 204);
  const after = await receiver.received(organizationId, before.length + 1);
  const [first, last] = [before[0], after.at(-1)];
  if (!first || !last || first.body !== last.body) throw new Error('The body has changed.');
  verifyDelivery(last, secret, 'webhook-signature');
}
