import { setTimeout as sleep } from 'node:timers/promises';
import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { eventText, type WalletEvent } from '../world/wallet-event';

/**
 * Puts events on the events queue at a steady rate (events a second), however long deliveries take.
 *
 * @throws what the first event failed with that the queue did not take; no more are sent then
 */
export async function publish(
  sqs: SQSClient,
  queueUrl: string,
  events: readonly Omit<WalletEvent, 'date'>[],
  rate: number,
): Promise<void> {
  const begin = Date.now();
  const sending: Promise<unknown>[] = [];
  let hasFailed = false;
  for (const [index, event] of events.entries()) {
    const wait = begin + (index * 1_000) / rate - Date.now();
    if (wait > 0) await sleep(wait);
    if (hasFailed) break;
    const MessageBody = eventText({ ...event, date: new Date().toISOString() });
    const sent = sqs.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody }));
    sent.catch(() => {
      hasFailed = true;
    });
    sending.push(sent);
  }
  await Promise.all(sending);
}
