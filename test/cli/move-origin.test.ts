import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { updatesBetween } from '../../cli/move-origin';
import { callsNotGranted } from '../support/granted';
import { writeOutputs } from '../support/outputs-file';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { runWallet } from '../support/wallet-command';
import { accountVariables, refusal as awsRefusal, result, startAccount } from './account';
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
  expect(callsNotGranted('operate', account.calls)).toEqual([]);
});

interface Setting {
  /** Input on the terminal. @default - no terminal */
  readonly answer?: string;
  /** In the outputs file. */
  readonly changed?: Readonly<Record<string, string>>;
}

/** Runs the command line with a clock that skips waits. */
async function run(args: readonly string[], { answer, changed }: Setting = {}) {
  const stack = { ...outputs(account.hasReserve)[first.stackId], ...changed };
  const file = writeOutputs(folder(), { [first.stackId]: stack } as ReturnType<typeof outputs>);
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
const moveTo2 = ['--zone', '2', '--yes'];

const at = (zone: string, reserve = false) => ({ zone, reserve });
it.each([
  ['the same location', at('2'), at('2'), []],
  ['another zone', at('1'), at('2'), [at('none'), at('2')]],
  ['from none', at('none'), at('2'), [at('2')]],
  ['to the reserve', at('1'), at('2', true), [at('2', true)]],
  ['back from the reserve', at('2', true), at('1'), [at('1')]],
  ['with the reserve to another zone', at('2', true), at('3', true), [at('none', true), at('3', true)]],
  ['from none to the other address', at('none', true), at('1'), [at('1')]],
])('the updates: %s', (_, from, to, updates) => {
  expect(updatesBetween(from, to)).toEqual(updates);
});

it('moves by two updates that change the zone and nothing else', async () => {
  const { exitCode, stdout } = await run([...moveTo2, '--json']);
  const facts = { environment: first.name, stack: first.stackId, address: addresses.one };
  expect({ exitCode, result: JSON.parse(stdout) }).toEqual({
    exitCode: 0,
    result: {
      ...facts,
      ...at('2'),
      availabilityZone: first.zones[1],
      natGatewayId: 'nat-2',
      updates: ['none', '2'].map((zone) => ({ ...at(zone), seconds: expect.any(Number) })),
    },
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
  // Idempotent: a second run does nothing.
  expect((await run(moveTo2)).stdout).toBe(
    `The webhook origin of ${first.name} is in zone 2 (${first.zones[1]}): gateway nat-2 sends from ${addresses.one}, and the consumers are enabled.\n`,
  );
  expect(account.updates()).toHaveLength(2);
});

it.each([
  ['in the first update', 'none', ['UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE'], ['2']],
  ['while the gateway is deleted', 'none', ['UPDATE_COMPLETE_CLEANUP_IN_PROGRESS', 'UPDATE_COMPLETE'], ['2']],
  ['between the updates', 'none', ['UPDATE_COMPLETE'], ['2']],
  ['in the second update', '2', ['UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE'], []],
  ['after a rollback', 'none', ['UPDATE_ROLLBACK_COMPLETE'], ['2']],
  ['in an update to another zone', '3', ['UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE'], ['none', '2']],
])('continues a move that was interrupted %s', async (_, zone, statuses, updates) => {
  account.location.zone = zone;
  // The plan asks first.
  account.statuses = [statuses[0] ?? '', ...statuses];
  expect(await run(moveTo2)).toMatchObject({ exitCode: 0 });
  expect(account.updates()).toEqual(updates);
});

it('prints what it would do with --dry-run', async () => {
  const { stdout } = await run(['--zone', '2', '--dry-run']);
  expect(stdout).toContain('is in zone 1.\n  1. Update the stack to zone none:');
  const { stdout: json } = await run(['--zone', '2', '--no-reserve', '--dry-run', '--json']);
  expect(JSON.parse(json)).toEqual({
    environment: first.name,
    stack: first.stackId,
    address: addresses.one,
    ...at('2'),
    from: '1',
    fromReserve: false,
    steps: ['none', '2'].map((zone) => ({ step: 'update', ...at(zone) })),
  });
  expect(account.updates()).toEqual([]);
});

it('asks a person, once', async () => {
  expect(await run(['--zone', '2'], { answer: 'n' })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('Nothing was changed.'),
  });
  expect(account.updates()).toEqual([]);
  expect(await run(['--zone', '2'], { answer: 'y' })).toMatchObject({ exitCode: 0 });
});

const other = '203.0.113.99';
it.each<[string, args: readonly string[], exitCode: number, said: string, Setting & Partial<OriginAccount>]>([
  ['without a person or --yes', ['--zone', '2'], 2, 'Add --yes', {}],
  ['of a zone that is not there', ['--zone', '4', '--yes'], 2, 'Give a zone from 1 to 3.', {}],
  ['of no zone', ['--zone', 'b', '--yes'], 2, 'Give the number of a zone', {}],
  ['without a reserve', [...moveTo2, '--reserve'], 2, 'webhookOrigin: { reserve: true }', {}],
  [
    'with another address than the outputs file',
    moveTo2,
    1,
    `the outputs file has ${other}`,
    { changed: { WebhookOriginAddress: other } },
  ],
  [
    'with another reserve than the outputs file',
    [...moveTo2, '--reserve'],
    1,
    `is ${addresses.reserve}, the outputs file has ${other}`,
    { hasReserve: true, changed: { WebhookOriginReserveAddress: other } },
  ],
  ['without its Elastic IP', moveTo2, 1, '"Keeping the address" in docs/runbook.md', { hasElasticIp: false }],
  [
    'without the permission',
    moveTo2,
    1,
    'Sign in with a role that has cloudformation:UpdateStack. See "If a move fails"',
    { refused: new Map([['UpdateStack', refusal('AccessDenied', 'No.')]]) },
  ],
  [
    'while the stack takes no update',
    moveTo2,
    1,
    'in UPDATE_ROLLBACK_FAILED state and can not be updated.\nSee "If a move fails" in docs/runbook.md; the same',
    {
      refused: new Map([
        [
          'UpdateStack',
          refusal('ValidationError', 'Stack is in UPDATE_ROLLBACK_FAILED state and can not be updated.'),
        ],
      ]),
    },
  ],
])('changes nothing %s', async (_, args, exitCode, said, { changed, ...setting }) => {
  Object.assign(account, setting);
  expect(await run(args, changed ? { changed } : {})).toMatchObject({
    exitCode,
    stdout: '',
    stderr: expect.stringContaining(said),
  });
  expect(account.location.zone).toBe('1');
});

it('moves to the reserve in one update, without waiting for the old zone or checking the first address in EC2', async () => {
  use(new OriginAccount(true));
  account.update = ['UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS'];
  account.refused.set('DescribeAddresses', refusal('Unavailable', 'down'));
  expect(await run([...moveTo2, '--reserve'])).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('CloudFormation is still deleting the old gateway;'),
  });
  expect(account.updates()).toEqual(['2 yes']);
  account.refused.clear();
  account.statuses = ['UPDATE_COMPLETE'];
  expect(await run(['--zone', '1', '--yes'])).toMatchObject({ exitCode: 0 });
  expect(account.updates()).toEqual(['2 yes', '1 no']);
});

it('stops with the reasons of the update that failed', async () => {
  account.location.zone = 'none';
  account.update = ['UPDATE_IN_PROGRESS', 'UPDATE_ROLLBACK_IN_PROGRESS', 'UPDATE_ROLLBACK_COMPLETE'];
  const reason = 'Elastic IP address is already associated';
  const event = {
    LogicalResourceId: 'Gateway',
    ResourceStatus: 'CREATE_FAILED',
    ResourceStatusReason: reason,
  };
  account.events = [event, { ...event, LogicalResourceId: 'Other', ClientRequestToken: 'another' }];
  const { exitCode, stderr } = await run(moveTo2);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    `The update to zone 2 failed: stack ${first.stackId} is UPDATE_ROLLBACK_COMPLETE. No gateway has the address; webhooks wait.\n  Gateway: ${reason}\nSee "If a move fails"`,
  );
});

it('reports once a minute, and waits up to 40 minutes for an update', async () => {
  account.update = ['UPDATE_IN_PROGRESS', 'UPDATE_COMPLETE_CLEANUP_IN_PROGRESS'];
  const { stderr } = await run(moveTo2);
  expect(account.updates()).toEqual(['none']);
  const minutes = [...stderr.matchAll(/UPDATE_COMPLETE_CLEANUP_IN_PROGRESS for (\d+) min/g)];
  expect(minutes.map(([, minute]) => Number(minute))).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
  expect(stderr).toContain('is still UPDATE_COMPLETE_CLEANUP_IN_PROGRESS after 40 min.');
});

it('waits for consumers that are being enabled', async () => {
  account.mappingStates = ['Enabling', 'Enabling', 'Updating', 'Enabled'];
  expect(await run(moveTo2)).toMatchObject({ exitCode: 0 });
});

it.each([
  ['consumer', { mappingStates: ['Disabled'] }, 'the consumer mapping-deliver is disabled'],
  ['consumer that stays', { mappingStates: ['Enabling'] }, 'the consumer mapping-deliver is enabling'],
  ['gateway', { gateway: { State: 'failed' } }, 'gateway nat-2 is failed'],
  ['zone', { gateway: { SubnetId: 'subnet-3' } }, 'is in subnet subnet-3, not in the subnet of zone 2'],
  ['address', { gateway: { NatGatewayAddresses: [] } }, `sends from no address, not ${addresses.one}`],
])('fails at the end for a wrong %s', async (_, found, fault) => {
  Object.assign(account, found);
  expect(await run(moveTo2)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(fault) });
});

it('continues when its output is closed', async () => {
  jest.useRealTimers();
  jest.restoreAllMocks();
  const deployed = new OriginAccount();
  deployed.update = ['UPDATE_COMPLETE'];
  const aws = await startAccount();
  aws.answer({
    'cloudformation:*': ({ action, input }) => result(deployed.answer(action, input)),
    'ec2:DescribeAddresses': () => result({ addressesSet: [{ allocationId: 'eipalloc-1' }] }),
    // The check at the end comes after both updates.
    'ec2:*': () => awsRefusal('UnauthorizedOperation'),
  });
  const file = writeOutputs(folder(), outputs(false));
  const args = ['--require', 'tsx/cjs', 'bin/wallet.ts', 'move-origin', '--outputs', file, ...moveTo2];
  const env = { ...process.env, ...accountVariables(aws.url) };
  const command = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  command.stdout.destroy();
  command.stderr.destroy();
  await once(command, 'close');
  await aws.close();
  expect(deployed.updates()).toEqual(['none', '2']);
});
