import { CreateQueueCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { writeOutputs } from '../support/outputs-file';
import { first } from '../support/rows';
import { startTestQueues } from '../support/sqs';
import { temporaryFolder } from '../support/temporary-folder';
import { runWallet } from '../support/wallet-command';
import { addresses, OriginAccount, outputs, refusal } from './origin-account';

const folder = temporaryFolder();
let account: OriginAccount;
const use = (other: OriginAccount) => {
  account = other;
  account.intercept();
};
beforeEach(() => use(new OriginAccount()));
afterEach(() => jest.restoreAllMocks());

const run = (...args: readonly string[]) =>
  runWallet(['origin-status', '--outputs', writeOutputs(folder(), outputs(account.hasReserve)), ...args]);
const status = async () => JSON.parse((await run('--json')).stdout);

it('shows zone, address, gateway, consumers and queues, and changes nothing', async () => {
  const { exitCode, stdout, stderr } = await run('--json');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  expect(JSON.parse(stdout)).toEqual({
    environment: first.name,
    stack: first.stackId,
    stackStatus: 'UPDATE_COMPLETE',
    address: addresses.one,
    reserve: null,
    zone: '1',
    availabilityZone: first.zones[0],
    gateway: { id: 'nat-1', state: 'available' },
    consumers: ['mapping-deliver', 'mapping-fan-out'].map((functionName) => ({
      functionName,
      queueName: 'Queue',
      state: 'Enabled',
    })),
    queues: ['WebhookDeliveryQueue', 'WebhookDeliveryDeadLetterQueue'].map((name) => ({
      name,
      waiting: 0,
      later: 0,
      oldest: 7500,
    })),
    faults: [],
  });
  expect(account.calls.filter(({ action }) => !/^(Describe|List|Get)/.test(action))).toEqual([]);
});

it('shows what waits while no gateway has the address, and since when', async () => {
  account.location.zone = 'none';
  account.messages = 2;
  expect(await status()).toMatchObject({
    zone: 'none',
    availabilityZone: null,
    gateway: null,
    faults: ['no gateway has the address'],
  });
  const { stdout, stderr } = await run();
  expect(stdout).toMatch(/^zone {9}none\ngateway {6}none\nconsumer {5}mapping-deliver, Disabled$/m);
  expect(stdout).toMatch(/^WebhookDeliveryQueue +2 +0 +2 h 5 min$/m);
  expect(stderr).toBe('warning: no gateway has the address\n');
});

it('shows whether the reserve is in use, and warns while it is', async () => {
  use(new OriginAccount(true));
  expect(await status()).toMatchObject({ reserve: { address: addresses.reserve, inUse: false }, faults: [] });
  account.location.reserve = 'yes';
  expect(await status()).toMatchObject({
    address: addresses.one,
    reserve: { address: addresses.reserve, inUse: true },
    faults: [expect.stringContaining(`webhooks come from the reserve address ${addresses.reserve}`)],
  });
  const { stdout } = await run();
  expect(stdout).toMatch(/^address {6}203\.0\.113\.7, not in use\nreserve {6}203\.0\.113\.8, in use$/m);
});

it('shows what was changed outside CloudFormation', async () => {
  account.gateway = { State: 'deleted' };
  account.mappingStates = ['Enabled', 'Disabled'];
  expect((await status()).faults).toEqual([
    'gateway nat-1 is deleted',
    'the consumer mapping-fan-out is disabled',
  ]);
});

describe('when AWS refuses a call, shows everything else, and marks what is unknown', () => {
  it.each([
    ['DescribeStacks', 'status and zone of the stack', { stackStatus: null, zone: null }],
    [
      'ListStackResources',
      'gateway, consumers, queues',
      { gateway: null, availabilityZone: null, consumers: null, queues: null },
    ],
    ['DescribeAddresses', 'Elastic IP', {}],
    ['DescribeNatGateways', 'gateway', { gateway: null, availabilityZone: null }],
    ['DescribeSubnets', 'gateway', { gateway: null, availabilityZone: null }],
    ['GetEventSourceMapping', 'consumers', { consumers: null }],
    [
      'GetQueueAttributes',
      'messages in WebhookDeliveryQueue, messages in WebhookDeliveryDeadLetterQueue',
      {},
    ],
    ['GetMetricStatistics', 'age of the oldest in WebhookDeliveryQueue', {}],
  ])('%s', async (action, unknown, lost) => {
    const { faults: _, queues: __, ...known } = await status();
    account.refused.set(action, refusal('AccessDenied', 'No.'));
    const { exitCode, stdout, stderr } = await run('--json');
    const { faults, queues: ___, ...printed } = JSON.parse(stdout);
    const { queues: ____, ...others } = lost as { queues?: null };
    expect(printed).toEqual({ ...known, ...others });
    expect(faults).toEqual([expect.stringContaining(`unknown: ${unknown}`)]);
    expect(faults[0]).toMatch(new RegExp(`because \\w+:${action} failed: AccessDenied: No\\.$`));
    expect(stderr).toMatch(
      new RegExp(
        `^warning: unknown: .*\\nerror: The status is incomplete.\\n.* role that has \\w+:${action}.\\n$`,
      ),
    );
    expect(exitCode).toBe(1);
  });
});

it('for a local environment, shows the queues, and states that there is nothing to move', async () => {
  jest.restoreAllMocks();
  const queues = await startTestQueues();
  const stack = { WebhookOriginAddress: '127.0.0.1' };
  const file = writeOutputs(folder(), { [first.stackId]: stack }, { sqs: queues.url });
  for (const name of [first.stackId, 'Another'].map((stackId) => `${stackId}-WebhookDeliveryQueue`)) {
    const { QueueUrl } = await queues.sqs.send(new CreateQueueCommand({ QueueName: name }));
    await queues.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'one' }));
  }
  const shown = await runWallet(['origin-status', '--outputs', file, '--json']);
  const words = await runWallet(['origin-status', '--outputs', file]);
  await queues.stop();
  expect(JSON.parse(shown.stdout)).toEqual({
    environment: first.name,
    stack: first.stackId,
    stackStatus: null,
    address: '127.0.0.1',
    reserve: null,
    zone: null,
    availabilityZone: null,
    gateway: null,
    consumers: null,
    queues: [{ name: 'WebhookDeliveryQueue', waiting: 1, later: 0, oldest: null }],
    faults: [],
  });
  expect(words.stdout).toMatch(/^zone {9}not on this machine$/m);
  expect(words.stdout).toMatch(/^WebhookDeliveryQueue +1 +0 +unknown$/m);
  const moved = await runWallet(['move-origin', '--outputs', file, '--zone', '2', '--yes']);
  expect(moved).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('move-origin is for deployed environments'),
  });
});
