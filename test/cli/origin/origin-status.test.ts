import { CreateQueueCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import type { LocalCloud } from '../../support/local-cloudformation';
import { writeOutputs } from '../../support/outputs-file';
import { first } from '../../support/rows';
import { startTestQueues, type TestQueues } from '../../support/sqs';
import { temporaryFolder } from '../../support/temporary-folder';
import { wallet } from '../region';
import { deploy, moveOrigin } from './deployed';
import { addresses, withReserve } from './emergencies';

describe('of a deployed environment', () => {
  let cloud: LocalCloud;
  beforeEach(async () => {
    cloud = await deploy();
  });
  afterEach(() => cloud.stop());

  const status = async () => {
    const printed = await wallet('origin-status', '--outputs', cloud.outputs, '--json');
    expect(printed).toMatchObject({ exitCode: 0, stderr: '' });
    return JSON.parse(printed.stdout);
  };
  const send = (...messages: string[]) => {
    const [, queue] = [...cloud.account.queues].find(([name]) => name.endsWith('WebhookDeliveryQueue')) ?? [];
    queue?.push(...messages);
  };

  it('tells zone, address, gateway and consumers', async () => {
    await moveOrigin(cloud, '--zone', '3', '--yes');
    expect(await status()).toMatchObject({
      environment: first.name,
      stack: first.stackId,
      stackStatus: 'UPDATE_COMPLETE',
      address: '203.0.113.7',
      zone: '3',
      availabilityZone: first.zones[2],
      gateway: { id: expect.stringMatching(/^nat-/), state: 'available' },
      consumers: [
        { queueName: expect.stringMatching(/Queue$/), state: 'Enabled' },
        { queueName: expect.stringMatching(/Queue$/), state: 'Enabled' },
      ],
      faults: [],
    });
  });

  it('tells what waits while no gateway holds the address, and since when', async () => {
    cloud.stack.begin({ ...cloud.stack.parameters, WebhookOriginZone: 'none' }, 'by-hand');
    cloud.stack.settle();
    send('one', 'two');
    expect(await status()).toMatchObject({
      zone: 'none',
      availabilityZone: null,
      gateway: null,
      queues: expect.arrayContaining([
        { name: 'WebhookDeliveryQueue', waiting: 2, later: 0, oldest: 7500 },
        { name: 'WebhookDeliveryDeadLetterQueue', waiting: 0, later: 0, oldest: null },
      ]),
      faults: ['no gateway holds the address'],
    });
    const { stdout, stderr } = await wallet('origin-status', '--outputs', cloud.outputs);
    expect(stdout).toMatch(/^zone {10}none$/m);
    expect(stdout).toMatch(/^gateway {7}none$/m);
    expect(stdout).toMatch(/^consumer {6}\S+DeliverWebhook\S*, Disabled$/m);
    expect(stdout).toMatch(/^WebhookDeliveryQueue +2 +0 +2 h 5 min$/m);
    expect(stderr).toBe('warning: no gateway holds the address\n');
  });

  it('tells whether the reserve is in use, and warns as long as it is', async () => {
    const reserving = await deploy(withReserve);
    const printed = async (...args: string[]) =>
      wallet('origin-status', '--outputs', reserving.outputs, ...args);
    const unused = await printed('--json');
    expect(JSON.parse(unused.stdout)).toMatchObject({
      address: addresses.one,
      reserve: { address: addresses.reserve, inUse: false },
      faults: [],
    });
    await moveOrigin(reserving, '--zone', '2', '--reserve', '--yes');
    expect(JSON.parse((await printed('--json')).stdout)).toMatchObject({
      address: addresses.one,
      reserve: { address: addresses.reserve, inUse: true },
      faults: [expect.stringContaining(`webhooks come from the reserve address ${addresses.reserve}`)],
    });
    const words = await printed();
    await reserving.stop();
    expect(words.stdout).toMatch(
      /^address {7}203\.0\.113\.7, not in use\nreserve {7}203\.0\.113\.8, in use$/m,
    );
    expect(words.stderr).toMatch(/^warning: webhooks come from the reserve address/);
  });

  it('tells what was changed past CloudFormation', async () => {
    const [gateway] = cloud.account.gateways.values();
    if (gateway) cloud.account.endGateway(gateway);
    expect((await status()).faults).toEqual([`gateway ${gateway?.id} is deleted`]);
  });

  it('changes nothing', async () => {
    await status();
    expect(
      cloud.calls.map(({ action }) => action).filter((action) => !/^(Describe|List|Get)/.test(action)),
    ).toEqual([]);
  });
});

describe('on this machine', () => {
  const folder = temporaryFolder();
  let queues: TestQueues;
  let outputs: string;
  beforeEach(async () => {
    queues = await startTestQueues();
    const stack = { WebhookOriginAddress: '127.0.0.1' };
    outputs = writeOutputs(folder(), { [first.stackId]: stack }, { sqs: queues.url });
    for (const name of [first.stackId, 'Another'].map((stackId) => `${stackId}-WebhookDeliveryQueue`)) {
      const { QueueUrl } = await queues.sqs.send(new CreateQueueCommand({ QueueName: name }));
      await queues.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'one' }));
    }
  });
  afterEach(() => queues.stop());

  it('tells the address and what waits in the environment, and what cannot be known here', async () => {
    const { stdout } = await wallet('origin-status', '--outputs', outputs, '--json');
    expect(JSON.parse(stdout)).toEqual({
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
    const words = await wallet('origin-status', '--outputs', outputs);
    expect(words.stdout).toMatch(/^zone {10}not on this machine$/m);
    expect(words.stdout).toMatch(/^WebhookDeliveryQueue +1 +0 +unknown$/m);
  });

  it('there is nothing to move', async () => {
    const printed = await wallet('move-origin', '--outputs', outputs, '--zone', '2', '--yes');
    expect(printed).toMatchObject({ exitCode: 2, stdout: '' });
    expect(printed.stderr).toContain('move-origin is for deployed environments');
  });
});
