import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CreateQueueCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { type QueueServer, startQueues } from '../../../lib/local/queues/queues';
import type { LocalCloud } from '../../support/local-cloudformation';
import { startRegion, wallet } from '../region';
import { deploy, moveOrigin } from './deployed';

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
      environment: 'eu',
      stack: 'WalletEu',
      stackStatus: 'UPDATE_COMPLETE',
      address: '203.0.113.7',
      zone: '3',
      availabilityZone: 'eu-central-1c',
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
  let region: Awaited<ReturnType<typeof startRegion>>;
  let queues: QueueServer;
  beforeAll(async () => {
    [region, queues] = await Promise.all([startRegion(), startQueues()]);
    await writeFile(join(dirname(region.outputs), 'endpoints.json'), JSON.stringify({ sqs: queues.url }));
    const client = new SQSClient({
      endpoint: queues.url,
      region: 'eu-central-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
    for (const name of ['WalletEu-WebhookDeliveryQueue', 'WalletUae-WebhookDeliveryQueue']) {
      const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: name }));
      await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'one' }));
    }
    client.destroy();
  });
  afterAll(() => Promise.all([region.remove(), queues.stop()]));

  it('tells the address and what waits in the environment, and what cannot be known here', async () => {
    const { stdout } = await wallet('origin-status', '--outputs', region.outputs, '--json');
    expect(JSON.parse(stdout)).toEqual({
      environment: 'eu',
      stack: 'WalletEu',
      stackStatus: null,
      address: '127.0.0.1',
      zone: null,
      availabilityZone: null,
      gateway: null,
      consumers: null,
      queues: [{ name: 'WebhookDeliveryQueue', waiting: 1, later: 0, oldest: null }],
      faults: [],
    });
    const words = await wallet('origin-status', '--outputs', region.outputs);
    expect(words.stdout).toMatch(/^zone {10}not on this machine$/m);
    expect(words.stdout).toMatch(/^WebhookDeliveryQueue +1 +0 +unknown$/m);
  });

  it('there is nothing to move', async () => {
    const printed = await wallet('move-origin', '--outputs', region.outputs, '--zone', '2', '--yes');
    expect(printed).toMatchObject({ exitCode: 2, stdout: '' });
    expect(printed.stderr).toContain('move-origin is for deployed environments');
  });
});
