import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { first } from '../../support/rows';
import { startEnvironments } from '../environments';
import { createSqs } from '../world/queues';
import { walletEvent } from './delivery-batch';
import { compare, type Figure, type PartOptions, roundsOf } from './figures';
import { interleave } from './interleave';
import { startReceiverProcess } from './receiver-process';

const environment = first.name;
const eventsOfSample = 500;
const patience = 120_000;

/** Events a second through a whole local environment: events queue, fan-out, delivery queue, delivery, receiver. */
export async function measurePipeline(options: PartOptions): Promise<Figure> {
  const { cleanup, signal, progress } = options;
  progress('pipeline: starting the environment');
  const { local } = await startEnvironments(cleanup, [environment], signal);
  const receiver = await startReceiverProcess(cleanup);
  const { organizationId } = await local.walletJson<{ organizationId: string }>(environment, 'seed');
  const webhook = ['--organization', organizationId, '--url', receiver.url];
  await local.wallet(environment, 'webhook', 'add', ...webhook);
  const sqs = createSqs(local.endpoints.sqs);
  cleanup.add(async () => sqs.destroy());
  const QueueUrl = local.outputs(environment).WebhookEventsQueueUrl;

  /** Events a second: put on the queue, and arrived. */
  const run = async () => {
    const before = await receiver.count();
    const begin = performance.now();
    for (let sent = 0; sent < eventsOfSample; sent += 10) {
      const Entries = Array.from({ length: 10 }, (_, index) => ({
        Id: String(index),
        MessageBody: walletEvent(organizationId, randomUUID()),
      }));
      await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    }
    const put = performance.now();
    while ((await receiver.count()) < before + eventsOfSample) {
      signal.throwIfAborted();
      if (performance.now() - put > patience) throw new Error('The events did not arrive.');
      await sleep(5);
    }
    const rateUntil = (end: number) => (eventsOfSample * 1_000) / (end - begin);
    return { put: rateUntil(put), arrived: rateUntil(performance.now()) };
  };

  const rounds = roundsOf(options, 7, 1);
  progress(`pipeline: ${rounds.samples} times ${eventsOfSample} events`);
  const samples = (await interleave({ run }, rounds)).run;
  return compare(
    { what: 'pipeline, end to end', against: 'putting events on the queue', unit: '/s' },
    samples.map(({ arrived }) => arrived),
    samples.map(({ put }) => put),
  );
}
