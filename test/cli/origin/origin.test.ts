import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { startNodeIn } from '../../support/local-command';
import { copyProject } from '../../support/project-copy';
import { first } from '../../support/rows';
import { environments } from '../../support/table';
import { temporaryFolder } from '../../support/temporary-folder';
import { writeOutputs } from '../../support/wallet-command';
import { callsNotGranted, type Replies, type Reply, refusal, useAccount } from '../account';
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
const outputsFile = (changed: object = {}) =>
  writeOutputs(folder(), { [first.stackId]: { ...origin.outputs, ...changed } });
const move = (args: readonly string[] = moveTo2, changed: object = {}) =>
  wallet('move-origin', '--outputs', outputsFile(changed), ...args);

const updateInputs = () =>
  account().calls.flatMap(({ action, input }) => (action === 'UpdateStack' ? [input] : []));
/** The zone of each update; with a reserve, also whether it is used. */
const updates = () =>
  updateInputs().map(({ Parameters }): string =>
    Parameters.flatMap((each: Record<string, string>) => each.ParameterValue ?? []).join(' '),
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
  afterEach(() => expect(callsNotGranted('operate', account().calls)).toEqual([]));

  it('moves by two updates that change the zone and nothing else', async () => {
    expect(await move()).toMatchObject({ exitCode: 0 });
    expect(updateInputs()).toEqual(
      ['none', '2'].map((zone) => ({
        StackName: first.stackId,
        UsePreviousTemplate: 'true',
        Parameters: [
          { ParameterKey: 'BootstrapVersion', UsePreviousValue: 'true' },
          { ParameterKey: 'WebhookOriginZone', ParameterValue: zone },
        ],
        Capabilities: ['CAPABILITY_IAM'],
        ClientRequestToken: expect.any(String),
        Version: expect.any(String),
      })),
    );
    expect(new Set(updateInputs().map((input) => input.ClientRequestToken)).size).toBe(2);
  });

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

  const useReserve = [...moveTo2, '--reserve'];
  const other = '203.0.113.9';
  it.each<[string, readonly string[], said: string, outputs?: object, origin?: Partial<OriginAccount>]>([
    ['without --yes', ['--zone', '2'], 'Nothing was changed.\nAdd --yes to move it.'],
    ['to an unknown zone', ['--zone', '4', '--yes'], 'Give a zone from 1 to 3.'],
    ['without a reserve', useReserve, 'webhookOrigin: { reserve: true }', {}, new OriginAccount()],
    ['with another address', moveTo2, `file has ${other}`, { WebhookOriginAddress: other }],
    ['with another reserve', useReserve, `file has ${other}`, { WebhookOriginReserveAddress: other }],
    ['without its Elastic IP', moveTo2, '"Keeping the address"', {}, { hasElasticIp: false }],
  ])('changes nothing %s', async (_, args, said, outputs = {}, state = {}) => {
    use(Object.assign(new OriginAccount({ hasReserve: true }), state));
    const { exitCode, stderr } = await move(args, outputs);
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain(said);
    expect(updates()).toEqual([]);
  });

  it('moves to the reserve in one update, although EC2 is down and the old zone does not respond', async () => {
    const down: Replies = { 'ec2:DescribeAddresses': () => refusal('Unavailable') };
    use(new OriginAccount({ hasReserve: true }), down);
    origin.update = ['UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS'];
    expect(await move(useReserve)).toMatchObject({ exitCode: 0 });
    expect(updates()).toEqual(['2 yes']);
    use(origin);
    origin.statuses = ['UPDATE_COMPLETE'];
    expect(await move(['--zone', '1', '--yes'])).toMatchObject({ exitCode: 0 });
    expect(updates()).toEqual(['1 no']);
  });

  it('stops with the reasons of the update that failed, and of no other', async () => {
    use(new OriginAccount({ zone: 'none' }));
    const failure = { ResourceStatus: 'CREATE_FAILED', ResourceStatusReason: 'X.' };
    origin.update = ['UPDATE_IN_PROGRESS', 'UPDATE_ROLLBACK_COMPLETE'];
    const ofAnother = { ...failure, LogicalResourceId: 'Other', ClientRequestToken: 'another' };
    origin.events = [{ ...failure, LogicalResourceId: 'Gateway' }, ofAnother];
    const { exitCode, stderr } = await move();
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      'UPDATE_ROLLBACK_COMPLETE. No gateway has the address; webhooks wait.\n  Gateway: X.\nSee "If a move fails"',
    );
  });

  it('waits up to 40 minutes for an update to none and its cleanup', async () => {
    origin.update = ['UPDATE_COMPLETE_CLEANUP_IN_PROGRESS'];
    const { stderr } = await move();
    expect(updates()).toEqual(['none']);
    expect(stderr).toMatch(/_IN_PROGRESS for 1 min\n[\s\S]* is still UPDATE_\w+ after 40 min\./);
  });

  it.each([
    [['Enabling', 'Enabling', 'Updating', 'Enabled'], 0, 'Updating the stack'],
    [['Enabling'], 1, 'the consumer deliver of DeliveryQueue is enabling'],
  ])('waits for consumers that are being enabled: %j', async (consumerStates, exitCode, said) => {
    origin.consumerStates = consumerStates;
    expect(await move()).toMatchObject({ exitCode, stderr: expect.stringContaining(said) });
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
    use(Object.assign(new OriginAccount({ zone }), { update: [...update] }));
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

  it.each([
    ['2', 'UPDATE_COMPLETE', '  1. Check the gateway and the consumers.'],
    ['2', 'UPDATE_IN_PROGRESS', '  1. Wait for the update that is running.\n  2. Check the gateway'],
    ['none', 'UPDATE_IN_PROGRESS', '  1. Wait for the update that is running.\n  2. Update the st'],
    ['2', 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', '  1. Check the gateway and the consumers.'],
  ])('announces what it does from zone %s in %s', async (zone, state, steps) => {
    use(Object.assign(new OriginAccount({ zone }), { statuses: [state, 'UPDATE_COMPLETE'] }));
    expect((await move()).stderr).toContain(`is in zone ${zone}.\n${steps}`);
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

describe('origins', () => {
  const origins = (stacks: object | string, ...args: string[]) =>
    wallet('origins', '--outputs', writeOutputs(folder(), stacks), ...args);
  const standby = '34.240.1.1';
  const addresses = environments.map((_, index) => `3.120.14.${index + 1}`);
  const [inFirst = '', ...others] = addresses;
  /** All environments, the first with a reserve and one in its standby, not in the order of the table; and another stack. */
  const deployed = {
    AStandby: { DatabaseClusterArn: 'arn:aws:rds:eu-west-1:000000000000:cluster:standby' },
    ...Object.fromEntries(
      environments
        .slice(1)
        .map(({ stackId }, index) => [stackId, { WebhookOriginAddress: others[index] }])
        .reverse(),
    ),
    [first.stackId]: {
      WebhookOriginAddress: inFirst,
      WebhookOriginReserveAddress: reserve,
      WebhookOriginStandbyAddress: standby,
    },
  };

  it('prints all environments, in the order of the table, reserves last, or one of them', async () => {
    const { stdout } = await origins(deployed);
    const listed = stdout.split('\n').filter((line) => line && !line.startsWith('#'));
    expect(listed).toEqual([...addresses, reserve, standby].map((each) => `${each}/32`));
    const one = ['--environment', first.name, '--format', 'nftables', '--port', '8443'];
    const printed = (await origins(deployed, ...one)).stdout;
    expect(printed).toContain('tcp dport 8443 drop');
    expect(printed).not.toContain(others[0]);
  });

  it.each([
    // Nothing of it is printed: it may be a file with a password.
    ['"password"', /^(?!.*password).*outputs\.json is not a JSON object\.\nWith --outputs, name the file/s],
    [{ Other: {} }, /has no outputs of any environment\. It has: Other/],
    [
      { [first.stackId]: { WebhookOriginAddress: '3.120.14' } },
      /3\.120\.14.*\n.*recreate it with "cdk deploy/,
    ],
  ])('fails, with nothing on stdout, for the outputs %j', async (content, message) => {
    const printed = await origins(content);
    expect(printed).toEqual({ exitCode: 1, stdout: '', stderr: expect.stringMatching(message) });
  });
});
