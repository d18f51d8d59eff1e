import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { updatesBetween } from '../../cli/move-origin';
import { isPublicAddress } from '../../cli/origin';
import { callsNotGranted } from '../support/granted';
import { writeOutputs } from '../support/outputs-file';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { runWallet } from '../support/wallet-command';
import { accountVariables, type Replies, refusal, useAccount } from './account';
import { address, OriginAccount, reserve } from './origin-account';

// A wait takes no time, and moves the clock by a minute.
let mockMinutes = 0;
jest.mock('node:timers/promises', () => ({
  setTimeout: async () => {
    mockMinutes += 1;
  },
}));
const { now } = Date;
jest.spyOn(Date, 'now').mockImplementation(() => now() + mockMinutes * 60_000);

const folder = temporaryFolder();
const account = useAccount();
let origin: OriginAccount;
function use(other: OriginAccount, refused: Replies = {}): void {
  origin = other;
  account().answer(refused, origin.replies);
}
beforeEach(() => {
  mockMinutes = 0;
  use(new OriginAccount());
});

const outputsFile = (changed: object = {}) =>
  writeOutputs(folder(), { [first.stackId]: { ...origin.outputs, ...changed } });
const updates = () =>
  account()
    .calls.filter(({ action }) => action === 'UpdateStack')
    .map(({ input }): string => {
      const values: (string | undefined)[] = input.Parameters.map(
        (each: Record<string, string>) => each.ParameterValue,
      );
      return values.filter(Boolean).join(' ');
    });
const moveTo2 = ['--zone', '2', '--yes'];
const move = (args: readonly string[] = moveTo2, changed: object = {}) =>
  runWallet(['move-origin', '--outputs', outputsFile(changed), ...args]);
const status = (...args: readonly string[]) =>
  runWallet(['origin-status', '--outputs', outputsFile(), ...args]);
const readStatus = async () => JSON.parse((await status('--json')).stdout);

it.each([
  ['3.120.14.9', true],
  ['203.0.113.7', true],
  ['127.0.0.1', false],
  ['100.64.0.1', false],
  ['169.254.169.254', false],
  ['203.0.113.07', false],
  ['3405803783', false],
  ['203.0.113.7/32', false],
  ['203.0.113.7; allow all', false],
])('%j is a public address: %s', (text, expected) => {
  expect(isPublicAddress(text)).toBe(expected);
});

describe('move-origin', () => {
  afterEach(() => expect(callsNotGranted('operate', account().calls)).toEqual([]));

  const at = (zone: string, reserve = false) => ({ zone, reserve });
  it.each([
    ['the same location', at('2'), at('2'), []],
    ['another zone', at('1'), at('2'), [at('none'), at('2')]],
    ['from none', at('none'), at('2'), [at('2')]],
    ['to the reserve', at('1'), at('2', true), [at('2', true)]],
    ['back from the reserve', at('2', true), at('1'), [at('1')]],
    ['with the reserve to another zone', at('2', true), at('3', true), [at('none', true), at('3', true)]],
    ['from none to the other address', at('none', true), at('1'), [at('1')]],
  ])('updates the stack: %s', (_, from, to, expected) => {
    expect(updatesBetween(from, to)).toEqual(expected);
  });

  it('moves by two updates that change the zone and nothing else', async () => {
    const { exitCode, stdout } = await move([...moveTo2, '--json']);
    expect({ exitCode, result: JSON.parse(stdout) }).toEqual({
      exitCode: 0,
      result: {
        ...{ environment: first.name, stack: first.stackId, address, ...at('2') },
        ...{ availabilityZone: first.zones[1], natGatewayId: 'nat-2' },
        updates: ['none', '2'].map((zone) => ({ ...at(zone), seconds: expect.any(Number) })),
      },
    });
    const inputs = account().calls.flatMap(({ action, input }) => (action === 'UpdateStack' ? [input] : []));
    expect(inputs).toEqual(
      ['none', '2'].map((zone) => ({
        StackName: first.stackId,
        UsePreviousTemplate: 'true',
        Parameters: [
          { ParameterKey: 'BootstrapVersion', UsePreviousValue: 'true' },
          { ParameterKey: 'WebhookOriginZone', ParameterValue: zone },
        ],
        Capabilities: ['CAPABILITY_IAM'],
        ClientRequestToken: expect.stringMatching(/^[\da-f-]{36}$/),
        Version: expect.any(String),
      })),
    );
    expect(inputs[0].ClientRequestToken).not.toBe(inputs[1].ClientRequestToken);
    // Idempotent: a second run does nothing.
    expect((await move()).stdout).toMatch(
      /zone 2 .*: gateway nat-2 sends from 203.* consumers are enabled\.\n$/,
    );
    expect(updates()).toHaveLength(2);
  });

  it.each([
    ['in the first update', 'none', ['UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE'], ['2']],
    [
      'while the gateway is deleted',
      'none',
      ['UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', 'UPDATE_COMPLETE'],
      ['2'],
    ],
    ['between the updates', 'none', ['UPDATE_COMPLETE'], ['2']],
    ['in the second update', '2', ['UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE'], []],
    ['after a rollback', 'none', ['UPDATE_ROLLBACK_COMPLETE'], ['2']],
    ['in an update to another zone', '3', ['UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE'], ['none', '2']],
  ])('continues a move that was interrupted %s', async (_, zone, statuses, expected) => {
    // The plan asks first.
    Object.assign(origin, { zone, statuses: [statuses[0], ...statuses] });
    expect(await move()).toMatchObject({ exitCode: 0 });
    expect(updates()).toEqual(expected);
  });

  it('prints what it would do with --dry-run', async () => {
    const { stdout } = await move(['--zone', '2', '--dry-run']);
    expect(stdout).toContain('is in zone 1.\n  1. Update the stack to zone none:');
    const { stdout: json } = await move(['--zone', '2', '--no-reserve', '--dry-run', '--json']);
    expect(JSON.parse(json)).toEqual({
      ...{ environment: first.name, stack: first.stackId, address, ...at('2') },
      ...{ from: '1', fromReserve: false },
      steps: ['none', '2'].map((zone) => ({ step: 'update', ...at(zone) })),
    });
    expect(updates()).toEqual([]);
  });

  it.each([
    ['n', { exitCode: 1, stderr: expect.stringContaining('Nothing was changed.') }, []],
    ['y', { exitCode: 0 }, ['none', '2']],
  ])('asks a person, once: %s', async (answer, expected, updated) => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    stdin.write(`${answer}\n`);
    const args = ['move-origin', '--outputs', outputsFile(), '--zone', '2'];
    expect(await runWallet(args, { stdin })).toMatchObject(expected);
    expect(updates()).toEqual(updated);
  });

  const denied: Replies = { 'cloudformation:UpdateStack': () => refusal('AccessDenied') };
  it.each<[string, args: readonly string[], exitCode: number, said: string, object?, Replies?]>([
    ['without a person or --yes', ['--zone', '2'], 2, 'Add --yes'],
    ['to an unknown zone', ['--zone', '4', '--yes'], 2, 'Give a zone from 1 to 3.'],
    ['without a reserve', [...moveTo2, '--reserve'], 2, 'webhookOrigin: { reserve: true }'],
    ['with another address', moveTo2, 1, 'file has 203.0.113.9', { WebhookOriginAddress: '203.0.113.9' }],
    ['without the permission', moveTo2, 1, 'UpdateStack. See "If a move fails" in docs/runbook', {}, denied],
  ])('changes nothing %s', async (_, args, exitCode, said, changed = {}, refused = {}) => {
    use(origin, refused);
    expect(await move(args, changed)).toEqual({
      exitCode,
      stdout: '',
      stderr: expect.stringContaining(said),
    });
    expect(origin.zone).toBe('1');
  });

  it('changes nothing without its Elastic IP, or with another reserve than the outputs file', async () => {
    origin.hasElasticIp = false;
    expect((await move()).stderr).toContain('"Keeping the address" in docs/runbook.md');
    use(new OriginAccount(true));
    const changed = { WebhookOriginReserveAddress: '203.0.113.9' };
    const { stderr } = await move([...moveTo2, '--reserve'], changed);
    expect(stderr).toContain(`is ${reserve}, but the outputs file has 203.0.113.9`);
    expect(updates()).toEqual([]);
  });

  it('moves to the reserve in one update, without waiting for the old zone or checking the first address in EC2', async () => {
    const down: Replies = { 'ec2:DescribeAddresses': () => refusal('Unavailable') };
    use(new OriginAccount(true), down);
    origin.update = ['UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS'];
    const { exitCode, stderr } = await move([...moveTo2, '--reserve']);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('CloudFormation is still deleting the old gateway;');
    expect(updates()).toEqual(['2 yes']);
    use(origin);
    origin.statuses = ['UPDATE_COMPLETE'];
    expect(await move(['--zone', '1', '--yes'])).toMatchObject({ exitCode: 0 });
    expect(updates()).toEqual(['1 no']);
  });

  it('stops with the reasons of the update that failed', async () => {
    const reason = 'Elastic IP address is already associated';
    const event = {
      LogicalResourceId: 'Gateway',
      ResourceStatus: 'CREATE_FAILED',
      ResourceStatusReason: reason,
    };
    Object.assign(origin, {
      zone: 'none',
      update: ['UPDATE_IN_PROGRESS', 'UPDATE_ROLLBACK_COMPLETE'],
      events: [event, { ...event, LogicalResourceId: 'Other', ClientRequestToken: 'another' }],
    });
    const { exitCode, stderr } = await move();
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      `The update to zone 2 failed: stack ${first.stackId} is UPDATE_ROLLBACK_COMPLETE. No gateway has the address; webhooks wait.\n  Gateway: ${reason}\nSee "If a move fails"`,
    );
  });

  it('reports each minute, and waits up to 40 minutes for an update to none and its cleanup', async () => {
    origin.update = ['UPDATE_COMPLETE_CLEANUP_IN_PROGRESS'];
    const { stderr } = await move();
    expect(updates()).toEqual(['none']);
    const minutes = Array.from(stderr.matchAll(/CLEANUP_IN_PROGRESS for (\d+) min/g), ([, minute]) =>
      Number(minute),
    );
    expect(minutes).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
    expect(stderr).toContain('is still UPDATE_COMPLETE_CLEANUP_IN_PROGRESS after 40 min.');
  });

  it.each([
    ['waits for consumers that are being enabled', ['Enabling', 'Enabling', 'Updating', 'Enabled'], 0, ''],
    [
      'fails with a consumer that is still being enabled',
      ['Enabling'],
      1,
      'the consumer mapping-deliver is enabling',
    ],
    ['fails with a disabled consumer', ['Disabled'], 1, 'the consumer mapping-deliver is disabled'],
  ])('%s', async (_, consumerStates, exitCode, said) => {
    Object.assign(origin, { consumerStates });
    expect(await move()).toMatchObject({ exitCode, stderr: expect.stringContaining(said) });
  });

  it('continues when its output is closed', async () => {
    // The check at the end comes after both updates.
    use(origin, { 'ec2:DescribeNatGateways': () => refusal('UnauthorizedOperation') });
    origin.update = ['UPDATE_COMPLETE'];
    const args = [
      '--require',
      'tsx/cjs',
      'bin/wallet.ts',
      'move-origin',
      '--outputs',
      outputsFile(),
      ...moveTo2,
    ];
    const env = { ...process.env, ...accountVariables(account().url) };
    const command = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    command.stdout.destroy();
    command.stderr.destroy();
    await once(command, 'close');
    expect(updates()).toEqual(['none', '2']);
  });
});

describe('origin-status', () => {
  const consumer = (functionName: string) => ({ functionName, queueName: 'Queue', state: 'Enabled' });
  const known = {
    ...{ environment: first.name, stack: first.stackId, stackStatus: 'UPDATE_COMPLETE' },
    ...{ address, reserve: null, zone: '1', availabilityZone: first.zones[0] },
    gateway: { id: 'nat-1', state: 'available' },
    consumers: [consumer('mapping-deliver'), consumer('mapping-fan-out')],
    queues: [{ name: 'WebhookDeliveryQueue', waiting: 0, later: 0, oldest: 7500 }],
    faults: [],
  };

  it('shows zone, address, gateway, consumers and queues, and changes nothing', async () => {
    const { exitCode, stdout, stderr } = await status('--json');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual(known);
    expect(account().calls.filter(({ action }) => !/^(Describe|List|Get)/.test(action))).toEqual([]);
  });

  it('shows what waits while no gateway has the address, and since when', async () => {
    Object.assign(origin, { zone: 'none', messages: '2' });
    const none = { zone: 'none', availabilityZone: null, gateway: null };
    expect(await readStatus()).toMatchObject({ ...none, faults: ['no gateway has the address'] });
    const { stdout, stderr } = await status();
    expect(stdout).toMatch(/^zone {9}none\ngateway {6}none\nconsumer {5}mapping-deliver, Disabled$/m);
    expect(stdout).toMatch(/^WebhookDeliveryQueue +2 +0 +125 min$/m);
    expect(stderr).toBe('warning: no gateway has the address\n');
  });

  it('warns while the reserve is in use', async () => {
    use(new OriginAccount(true));
    expect(await readStatus()).toMatchObject({ reserve: { address: reserve, inUse: false }, faults: [] });
    origin.usesReserve = 'yes';
    expect(await readStatus()).toMatchObject({
      ...{ address, reserve: { address: reserve, inUse: true } },
      faults: [expect.stringContaining(`webhooks come from the reserve address ${reserve}`)],
    });
    const { stdout } = await status();
    expect(stdout).toMatch(/^address {6}203\.0\.113\.7, not in use\nreserve {6}203\.0\.113\.8, in use$/m);
  });

  it.each([
    [{ gateway: { state: 'failed' } }, 'gateway nat-1 is failed'],
    [
      { gateway: { subnetId: 'subnet-3' } },
      'gateway nat-1 is in subnet subnet-3, not in the subnet of zone 1',
    ],
    [{ gateway: { natGatewayAddressSet: [] } }, `gateway nat-1 sends from no address, not ${address}`],
    [{ consumerStates: ['Enabled', 'Disabled'] }, /^the consumer mapping-\S+ is disabled$/],
  ])('shows what was changed outside CloudFormation: %j', async (changed, fault) => {
    Object.assign(origin, changed);
    expect((await readStatus()).faults).toEqual([expect.stringMatching(fault)]);
  });

  it.each<[string, string, object]>([
    ['cloudformation', 'DescribeStacks', { stackStatus: null, zone: null }],
    [
      'cloudformation',
      'ListStackResources',
      { gateway: null, availabilityZone: null, consumers: null, queues: null },
    ],
    ['ec2', 'DescribeAddresses', {}],
    ['ec2', 'DescribeSubnets', { gateway: null, availabilityZone: null }],
    ['lambda', 'GetEventSourceMapping', { consumers: null }],
    ['sqs', 'GetQueueAttributes', { queues: [{ ...known.queues[0], waiting: null, later: null }] }],
    ['monitoring', 'GetMetricStatistics', { queues: [{ ...known.queues[0], oldest: null }] }],
  ])('shows everything else when AWS refuses %s:%s', async (service, action, lost) => {
    use(origin, { [`${service}:${action}`]: () => refusal('AccessDenied') });
    const { exitCode, stdout, stderr } = await status('--json');
    const faults = [expect.stringMatching(RegExp(`^unknown: \\w+:${action} failed: AccessDenied: No\\.$`))];
    expect({ exitCode, printed: JSON.parse(stdout) }).toEqual({
      exitCode: 1,
      printed: { ...known, ...lost, faults },
    });
    expect(stderr).toMatch(RegExp(`error: The status is incomplete.\\n.* role that has \\w+:${action}.\\n$`));
  });
});

it.each([['origin-status'], ['move-origin', ...moveTo2]])(
  '%s is for deployed environments',
  async (...args) => {
    const file = writeOutputs(folder(), { [first.stackId]: origin.outputs }, {});
    const { exitCode, stderr } = await runWallet([...args, '--outputs', file]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('for deployed') });
  },
);
