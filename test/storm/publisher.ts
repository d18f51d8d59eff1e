import { setTimeout as sleep } from 'node:timers/promises';
import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { type StormEvent, stormEvent } from './event';

/** Puts events on the events queue at a steady rate (events a second), however long deliveries take. */
export async function publish(
  sqs: SQSClient,
  queueUrl: string,
  events: readonly Omit<StormEvent, 'date'>[],
  rate: number,
): Promise<void> {
  const begin = Date.now();
  const sending: Promise<unknown>[] = [];
  for (const [index, event] of events.entries()) {
    const wait = begin + (index * 1_000) / rate - Date.now();
    if (wait > 0) await sleep(wait);
    const MessageBody = stormEvent({ ...event, date: new Date().toISOString() });
    sending.push(sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody })));
  }
  await Promise.all(sending);
}
