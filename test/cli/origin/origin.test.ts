import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { startNodeIn } from '../../support/local-command';
import { copyProject } from '../../support/prepared-state';
import { first } from '../../support/rows';
import { environments } from '../../support/table';
import { temporaryFolder } from '../../support/temporary-folder';
import { writeOutputs } from '../../support/wallet-command';
import { notGranted, type Replies, type Reply, refusal, useAccount } from '../account';
import { useInstantWaits } from '../instant-waits';
import { wallet } from '../region';
import { address, OriginAccount, reserve } from './origin-account';

useInstantWaits();
const folder = temporaryFolder();
const account = useAccount();
let origin: OriginAccount;
function use(other: OriginAccount, refused: Replies = {}): void {
  origin = other;
  account().answer(refused, origin.replies);
}
beforeEach(() => use(new OriginAccount()));

const moveTo2 = ['--zone', '2', '--yes'];
const outputsFile = () => writeOutputs(folder(), { [first.stackId]: origin.outputs });
const move = () => wallet('move-origin', '--outputs', outputsFile(), ...moveTo2);

/** The zone of each update. */
const updates = () =>
  account().calls.flatMap(({ action, input: { Parameters } }) =>
    action === 'UpdateStack'
      ? Parameters.flatMap((each: Record<string, string>) => each.ParameterValue ?? [])
      : [],
  );

/** Acts at the nth call to AWS, and replies with what it returns, or as usual. */
function intercept(nth: number, act: () => Reply | undefined): void {
  const replies = Object.entries(origin.replies).map(([name, respond]): [string, typeof respond] => [
    name,
    (call) => {
      const reply = respond(call);
      return (account().calls.length === nth && act()) || reply;
    },
  ]);
  use(origin, Object.fromEntries(replies));
}

describe('move-origin', () => {
  afterEach(() => expect(notGranted('operate', account().calls)).toEqual([]));

  it('continues after it was killed, at whatever call to AWS', async () => {
    const begun = Date.now();
    for (let last = 1, hasBegunBoth = false; !hasBegunBoth; last++) {
      // With a clock that is five minutes off, the SDK would repeat the call.
      jest.setSystemTime(begun);
      use(new OriginAccount());
      intercept(last, () => refusal('Killed'));
      expect([last, await move()]).toMatchObject([last, { exitCode: 1 }]);
      hasBegunBoth = updates().length === 2;
      expect([last, await move()]).toMatchObject([last, { exitCode: 0 }]);
      expect([last, updates()]).toEqual([last, ['none', '2']]);
    }
  });

  const running = ['UPDATE_IN_PROGRESS'];
  const waits = ' While no gateway has the address, webhooks wait until the move goes on.';
  it.each<[said: string, NodeJS.Signals, nth: number, update: string[], zone: string, updated: string[]]>([
    [': the stack was in zone 1, UPDATE_COMPLETE.', 'SIGINT', 3, running, '1', []],
    [' zone none: the stack was in zone 1, UPDATE_COMPLETE.', 'SIGTERM', 4, running, '1', ['none']],
    [' zone none: the stack was in zone none, UPDATE_IN_', 'SIGHUP', 6, running, '1', ['none']],
    [' zone none: the stack was in zone 1, UPDATE_', 'SIGINT', 5, ['UPDATE_COMPLETE'], '1', ['none']],
    [' zone 2: the stack was in zone 2, UPDATE_IN_', 'SIGINT', 6, running, 'none', ['2']],
  ])('says where it stands when interrupted%s, by %s', async (said, signal, nth, update, zone, updated) => {
    use(new OriginAccount({ parameters: { WebhookOriginZone: zone }, update }));
    intercept(nth, () => {
      process.emit(signal);
      // Ends what the interrupted move still waits for, unless its next step is another update.
      return update === running ? refusal('Killed') : undefined;
    });
    const { exitCode, stdout, stderr } = await move();
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    const [, where = '', again = ''] = /^error: Interrupted(.*) Go on: \S*wallet (.*)$/m.exec(stderr) ?? [];
    expect(where).toContain(said);
    expect(where.endsWith(waits)).toBe(said.includes('none'));
    expect(again).toMatch(`move-origin --zone 2 --yes --environment ${first.name} --outputs /`);
    // These calls come after any that it would still make.
    await wallet('origin-status', '--outputs', outputsFile());
    expect(updates()).toEqual(updated);
  });

  it('runs through a symbolic link, goes on without a reader, and prints its result where one is left', async () => {
    origin.update = ['UPDATE_COMPLETE'];
    intercept(1, () => void command.process.stdout.destroy());
    const project = join(folder(), 'project');
    copyProject(project, 'cli', 'wallet');
    symlinkSync(join(project, 'wallet'), join(folder(), 'wallet'));
    const args = ['move-origin', '--outputs', outputsFile(), ...moveTo2, '--json'];
    const command = startNodeIn(folder(), ['./wallet', ...args]);
    const { exitCode, stderr } = await command.ended();
    const [line = ''] = stderr.split('\n').filter((each) => each.startsWith('{'));
    expect({ exitCode, ...JSON.parse(line) }).toMatchObject({ exitCode: 0, zone: '2', address });
    expect(updates()).toEqual(['none', '2']);
  });
});

it('origins prints all environments, in the order of the table, reserves last, or one of them', async () => {
  const standby = '34.240.1.1';
  const outputsOf = (index: number) => ({
    WebhookOriginAddress: `3.120.14.${index}`,
    ...(index === 0 && { WebhookOriginReserveAddress: reserve, WebhookOriginStandbyAddress: standby }),
  });
  const stacks = environments.map(({ stackId }, index) => [stackId, outputsOf(index)]).reverse();
  const deployed = { AStandby: { DatabaseClusterArn: 'arn' }, ...Object.fromEntries(stacks) };
  const origins = async (...args: string[]) =>
    (await wallet('origins', '--outputs', writeOutputs(folder(), deployed), ...args)).stdout;
  const listed = (await origins()).split('\n').filter((line) => line && !line.startsWith('#'));
  const addresses = environments.map((_, index) => `3.120.14.${index}`);
  expect(listed).toEqual([...addresses, reserve, standby].map((each) => `${each}/32`));
  const one = await origins('--environment', first.name, '--format', 'nftables', '--port', '8443');
  expect(one).toContain('tcp dport 8443 drop');
  expect(one).not.toContain('3.120.14.1');
});
