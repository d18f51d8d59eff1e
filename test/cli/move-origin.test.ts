import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { updatesBetween } from '../../cli/move-origin';
import { writeOutputs } from '../support/outputs-file';
import { readQuery, writeRefusal, writeResult } from '../support/query-protocol';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { runWallet } from '../support/wallet-command';
import { startAwsEndpoint } from './aws-endpoint';
import { addresses, OriginAccount, outputs, refusal } from './origin-account';

const folder = temporaryFolder();
let account: OriginAccount;
const use = (other: OriginAccount) => {
  account = other;
  account.intercept();
};
beforeEach(() => {
  jest.useFakeTimers();
  use(new OriginAccount());
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

/** Runs the command line while time passes at once. @param answer what a person types */
async function run(args: readonly string[], answer?: string, stack = outputs(account.hasReserve)) {
  const file = writeOutputs(folder(), stack);
  const stdin = answer === undefined ? undefined : Object.assign(new PassThrough(), { isTTY: true });
  stdin?.write(`${answer}\n`);
  const ended = runWallet(['move-origin', '--outputs', file, ...args], { ...(stdin && { stdin }) });
  let isRunning = true;
  void ended.finally(() => {
    isRunning = false;
  });
  while (isRunning) await jest.advanceTimersByTimeAsync(1_000);
  return ended;
}

/** @returns what it said */
async function expectMove(...args: readonly string[]): Promise<string> {
  const { exitCode, stderr } = await run([...args, '--yes']);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.any(String) });
  return stderr;
}

/** @returns what it said */
async function expectFailure(...args: readonly string[]): Promise<string> {
  const { stderr, ...printed } = await run([...args, '--yes']);
  expect(printed).toEqual({ exitCode: 1, stdout: '' });
  return stderr;
}

const at = (zone: string, reserve = false) => ({ zone, reserve });
const heading = 'See "If a move fails" in docs/runbook.md; the same command continues the move.';

describe('the updates between two places', () => {
  it.each([
    ['the same place', at('2'), at('2'), []],
    ['another zone', at('1'), at('2'), [at('none'), at('2')]],
    ['from none', at('none'), at('2'), [at('2')]],
    ['to the reserve', at('1'), at('2', true), [at('2', true)]],
    ['to the reserve in the same zone', at('1'), at('1', true), [at('1', true)]],
    ['back from the reserve', at('2', true), at('1'), [at('1')]],
    ['with the reserve to another zone', at('2', true), at('3', true), [at('none', true), at('3', true)]],
    ['from none to the other address', at('none', true), at('1'), [at('1')]],
  ])('%s', (_, from, to, updates) => {
    expect(updatesBetween(from, to)).toEqual(updates);
  });
});

it('moves by two updates, which change the zone and nothing else, and checks EC2 and Lambda', async () => {
  const { exitCode, stdout } = await run(['--zone', '2', '--yes']);
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: `The webhook origin of ${first.name} is in zone 2 (${first.zones[1]}): gateway nat-2 sends from ${addresses.one}, and the consumers are on.\n`,
  });
  const updates = account.calls.filter(({ action }) => action === 'UpdateStack').map(({ input }) => input);
  expect(updates).toEqual(
    ['none', '2'].map((zone) => ({
      StackName: first.stackId,
      UsePreviousTemplate: true,
      Parameters: [
        { ParameterKey: 'BootstrapVersion', UsePreviousValue: true },
        { ParameterKey: 'WebhookOriginZone', ParameterValue: zone },
      ],
      Capabilities: ['CAPABILITY_IAM'],
      ClientRequestToken: expect.stringMatching(/^[\da-f-]{36}$/),
    })),
  );
  expect(updates[0].ClientRequestToken).not.toBe(updates[1].ClientRequestToken);
});

it('tells programs where the origin is, and what was done', async () => {
  const { stdout } = await run(['--zone', '2', '--yes', '--json']);
  expect(JSON.parse(stdout)).toEqual({
    environment: first.name,
    stack: first.stackId,
    address: addresses.one,
    zone: '2',
    reserve: false,
    availabilityZone: first.zones[1],
    natGatewayId: 'nat-2',
    updates: [
      { zone: 'none', reserve: false, seconds: expect.any(Number) },
      { zone: '2', reserve: false, seconds: expect.any(Number) },
    ],
  });
});

describe('an interrupted move continues from where the stack is', () => {
  it.each([
    ['before the first update', '1', ['UPDATE_COMPLETE'], ['none', '2']],
    ['in the first update', 'none', ['UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE'], ['2']],
    [
      'while the gateway is deleted',
      'none',
      ['UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', 'UPDATE_COMPLETE'],
      ['2'],
    ],
    ['between the updates', 'none', ['UPDATE_COMPLETE'], ['2']],
    ['in the second update', '2', ['UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE'], []],
    ['after it', '2', ['UPDATE_COMPLETE'], []],
    ['after a rollback', 'none', ['UPDATE_ROLLBACK_COMPLETE'], ['2']],
    ['in an update to another zone', '3', ['UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE'], ['none', '2']],
  ])('%s', async (_, zone, statuses, updates) => {
    account.place.zone = zone;
    // The plan asks first.
    account.statuses = [statuses[0] ?? '', ...statuses];
    await expectMove('--zone', '2');
    expect(account.updates()).toEqual(updates);
  });
});

describe('before anything is changed', () => {
  it('a dry run says what would be done', async () => {
    const { exitCode, stdout } = await run(['--zone', '2', '--dry-run']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('from zone 1 to zone 2:\n  1. Update the stack to zone none:');
    const { stdout: json } = await run(['--zone', '2', '--no-reserve', '--dry-run', '--json']);
    expect(JSON.parse(json)).toEqual({
      environment: first.name,
      stack: first.stackId,
      address: addresses.one,
      zone: '2',
      reserve: false,
      from: '1',
      fromReserve: false,
      steps: [
        { step: 'update', zone: 'none', reserve: false },
        { step: 'update', zone: '2', reserve: false },
      ],
    });
  });

  it('a person is asked, once', async () => {
    expect(await run(['--zone', '2'], 'n')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('Nothing was changed.'),
    });
    expect(account.updates()).toEqual([]);
    expect(await run(['--zone', '2'], 'y')).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ['without a person or --yes', ['--zone', '2'], 'Add --yes'],
    ['for a zone that the environment does not have', ['--zone', '4', '--yes'], 'Give a zone from 1 to 3.'],
    ['for what is no zone', ['--zone', 'b', '--yes'], 'Give the number of a zone'],
    ['without a reserve', ['--zone', '2', '--reserve', '--yes'], 'webhookOrigin: { reserve: true }'],
  ])('it is used wrongly %s', async (_, args, said) => {
    expect(await run(args)).toMatchObject({ exitCode: 2, stdout: '', stderr: expect.stringContaining(said) });
    expect(account.updates()).toEqual([]);
  });

  it.each([
    ['one address', 'WebhookOriginAddress', ['--zone', '2']],
    ['reserve', 'WebhookOriginReserveAddress', ['--zone', '2', '--reserve']],
  ])('it stops when the stack has another %s than the outputs file', async (_, output, args) => {
    use(new OriginAccount(true));
    const others = { [first.stackId]: { ...outputs(true)[first.stackId], [output]: '203.0.113.99' } };
    expect(await run([...args, '--yes'], undefined, others as ReturnType<typeof outputs>)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('the outputs file has 203.0.113.99'),
    });
    expect(account.updates()).toEqual([]);
  });

  it('it stops when the account has lost the address', async () => {
    account.hasElasticIp = false;
    expect(await expectFailure('--zone', '2')).toContain('"Keeping the address" in docs/runbook.md');
    expect(account.updates()).toEqual([]);
  });

  it('it stops without a right, and names it', async () => {
    account.refused.set('UpdateStack', refusal('AccessDenied', 'not authorized: ssm:GetParameters'));
    const said = await expectFailure('--zone', '2');
    expect(said).toContain(
      'cloudformation:UpdateStack failed: AccessDenied: not authorized: ssm:GetParameters',
    );
    expect(said).toContain(heading);
  });
});

describe('the reserve address', () => {
  beforeEach(() => {
    use(new OriginAccount(true));
    account.update = ['UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS'];
  });

  it('takes one update, which does not wait for the old zone or for EC2 to know the one address', async () => {
    account.refused.set('DescribeAddresses', refusal('Unavailable', 'down'));
    const said = await expectMove('--zone', '2', '--reserve');
    expect(account.updates()).toEqual(['2 yes']);
    expect(said).toContain('CloudFormation is still deleting the old gateway.');
    account.calls.length = 0;
    await expectMove('--zone', '2', '--reserve');
    expect(account.updates()).toEqual([]);
  });

  it('is left by one update', async () => {
    Object.assign(account.place, { zone: '2', reserve: 'yes' });
    await expectMove('--zone', '1');
    expect(account.updates()).toEqual(['1 no']);
  });
});

describe('when AWS fails', () => {
  const event = (LogicalResourceId: string, ResourceStatus: string, ResourceStatusReason: string) => ({
    LogicalResourceId,
    ResourceStatus,
    ResourceStatusReason,
  });

  it('it stops with the reasons of this very update', async () => {
    account.place.zone = 'none';
    account.update = ['UPDATE_IN_PROGRESS', 'UPDATE_ROLLBACK_IN_PROGRESS', 'UPDATE_ROLLBACK_COMPLETE'];
    account.events = [
      event('WebhookOriginNatGateway', 'CREATE_FAILED', 'Elastic IP address is already associated'),
      { ...event('Other', 'UPDATE_FAILED', 'of last week'), ClientRequestToken: 'another' },
    ];
    const said = await expectFailure('--zone', '2');
    expect(said).toContain(
      `The update to zone 2 failed: stack ${first.stackId} is UPDATE_ROLLBACK_COMPLETE. No gateway holds the address, and webhooks wait.\n  WebhookOriginNatGateway: Elastic IP address is already associated\n${heading}`,
    );
    expect(said).not.toContain('of last week');
  });

  it('it says so while the stack takes no update', async () => {
    const said = 'Stack is in UPDATE_ROLLBACK_FAILED state and can not be updated.';
    account.statuses = ['UPDATE_ROLLBACK_FAILED'];
    account.refused.set('UpdateStack', refusal('ValidationError', said));
    expect(await expectFailure('--zone', '2')).toContain(said.slice(0, -1));
  });

  it('it reports once a minute, waits 40 minutes, and says what the stack still does', async () => {
    account.update = ['UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS'];
    const said = await expectFailure('--zone', '2');
    expect(account.updates()).toEqual(['none']);
    const minutes = [...said.matchAll(/UPDATE_COMPLETE_CLEANUP_IN_PROGRESS for (\d+) min/g)];
    expect(minutes.map(([, minute]) => Number(minute))).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
    expect(said).toContain('is still UPDATE_COMPLETE_CLEANUP_IN_PROGRESS after 40 min.');
  });
});

describe('at the end', () => {
  it('a consumer that is on its way is waited for', async () => {
    account.mappingStates = ['Enabling', 'Enabling', 'Updating', 'Enabled'];
    await expectMove('--zone', '2');
  });

  it.each([
    ['consumer', { mappingStates: ['Disabled'] }, 'the consumer mapping-deliver is disabled'],
    ['consumer that stays', { mappingStates: ['Enabling'] }, 'the consumer mapping-deliver is enabling'],
    ['gateway', { gateway: { State: 'failed' } }, 'gateway nat-2 is failed'],
    ['zone', { gateway: { SubnetId: 'subnet-3' } }, 'is in subnet subnet-3, not in the one of zone 2'],
    ['address', { gateway: { NatGatewayAddresses: [] } }, `sends from no address, not ${addresses.one}`],
  ])('a wrong %s is reported', async (_, found, fault) => {
    Object.assign(account, found);
    const said = await expectFailure('--zone', '2');
    expect(said).toContain(fault);
    expect(said).toContain(heading);
  });
});

it('goes on when nobody reads its output any more', async () => {
  jest.useRealTimers();
  jest.restoreAllMocks();
  const deployed = new OriginAccount();
  deployed.update = ['UPDATE_COMPLETE'];
  const aws = await startAwsEndpoint(() => outputs(false));
  aws.answer(({ body, headers }) => {
    const { Action, ...input } = readQuery(String(body));
    if (Action === 'DescribeAddresses')
      return writeResult('ec2', Action, { addressesSet: [{ allocationId: 'eipalloc-1' }] });
    // The check at the end comes after both updates.
    return headers.authorization?.includes('/cloudformation/')
      ? writeResult('query', Action, deployed.answer(Action, input))
      : writeRefusal('ec2', 'UnauthorizedOperation');
  });
  const args = [
    '--require',
    'tsx/cjs',
    'bin/wallet.ts',
    'move-origin',
    '--outputs',
    aws.outputs,
    '--zone',
    '2',
    '--yes',
  ];
  const command = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  command.stdout.destroy();
  command.stderr.destroy();
  await once(command, 'close');
  await aws.close();
  expect(deployed.updates()).toEqual(['none', '2']);
});
