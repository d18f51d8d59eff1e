import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs';
import { Cleanup } from '../../lib/local/cleanup';
import { startTemporaryEnvironments } from '../support/temporary-environments';
import { walletEvent } from './delivery-batch';
import { compare, type Figure, type PartOptions, samplesFor } from './figures';
import { startReceiverProcess } from './receiver-process';

const environment = 'eu';
const eventsOfSample = 500;
const patience = 120_000;

/** Events a second through a whole local environment: events queue, fan-out, delivery queue, delivery, receiver. */
export async function measurePipeline(options: PartOptions): Promise<Figure[]> {
  const cleanup = new Cleanup();
  try {
    options.onProgress('pipeline: starting the environment');
    const { local, stop } = await startTemporaryEnvironments([environment], options.signal);
    cleanup.add(stop);
    const receiver = await startReceiverProcess(cleanup);
    const { organizationId } = await local.walletJson<{ organizationId: string }>(environment, 'seed');
    await local.wallet(
      environment,
      ...['webhook', 'add', '--organization', organizationId, '--url', receiver.url],
    );
    const sqs = new SQSClient({
      region: 'eu-central-1',
      endpoint: local.endpoints.sqs as string,
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    });
    cleanup.add(async () => sqs.destroy());
    const QueueUrl = local.outputs(environment).WebhookEventsQueueUrl as string;

    /** Rates of one sample, in events a second: of putting them on the queue, and of their arrival. */
    const run = async (events: number) => {
      const before = await receiver.count();
      const begin = performance.now();
      for (let sent = 0; sent < events; sent += 10) {
        const Entries = Array.from({ length: 10 }, (_, index) => ({
          Id: String(index),
          MessageBody: walletEvent(organizationId, randomUUID()),
        }));
        await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
      }
      const put = performance.now();
      while ((await receiver.count()) < before + events) {
        options.signal.throwIfAborted();
        if (performance.now() - put > patience) throw new Error('The events did not arrive.');
        await sleep(5);
      }
      const arrived = performance.now();
      return { put: (events * 1_000) / (put - begin), arrived: (events * 1_000) / (arrived - begin) };
    };

    await run(100);
    const samples: { readonly put: number; readonly arrived: number }[] = [];
    const count = samplesFor(options, 7);
    options.onProgress(`pipeline: ${count} times ${eventsOfSample} events`);
    for (let sample = 0; sample < count; sample += 1) samples.push(await run(eventsOfSample));
    return [
      compare(
        { what: 'pipeline, end to end', against: 'putting events on the queue', unit: '/s' },
        samples.map(({ arrived }) => arrived),
        samples.map(({ put }) => put),
      ),
    ];
  } finally {
    await cleanup.run();
  }
}
