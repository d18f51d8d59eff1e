import { randomBytes } from 'node:crypto';
import { writeDelivery } from '../domain/delivery';
import type { Webhook } from '../domain/operations';
import { requireDelivered, waitForAttempt } from './delivery-outcome';
import type { Definition } from './environment-command';
import { sendMessages } from './queue-messages';
import type { Target } from './target';
import { describeEnabledWebhook } from './webhooks';

export interface TestOptions {
  readonly webhook: string;
  /** Seconds. */
  readonly timeout: number;
}

export const testWebhook: Definition<TestOptions> = {
  summary: 'send a webhook a signed test event, and print the first attempt',
  help: `Only this webhook gets the event, whatever kinds it wants; it has no data of the organization and needs no
--allow-production. It is retried for 72 hours if it fails.

Exit codes: 0 the receiver answered with 2xx; 1 it did not, or not in time; 2 used wrongly.

Examples:
  wallet webhook test --webhook wh-…
  wallet webhook test --environment uae --webhook wh-… --json`,
  async run(target, { webhook: webhookId, timeout }, print) {
    const webhook = await describeEnabledWebhook(target, webhookId);
    const eventId = await sendTestEvent(target, webhook);
    target.note(`Sent ${eventId} to ${webhook.url}. Waiting for its attempt …`);
    const attempt = await waitForAttempt(target, { eventId, webhookId }, { seconds: timeout });
    const { status, durationMs, outcome } = attempt;
    print(attempt, () => `${outcome}, answered ${status ?? 'nothing'} after ${durationMs} ms`);
    requireDelivered(attempt);
  },
};

/** Goes to the delivery queue: the events queue is for all webhooks of the organization. */
async function sendTestEvent(target: Target, { webhookId, organizationId }: Webhook): Promise<string> {
  const random = randomBytes(16).toString('hex');
  const eventId = `evt_test_${random}`;
  const date = new Date();
  const event = { id: eventId, organizationId, kind: 'webhook.test', date, data: { webhookId } };
  const body = JSON.stringify(event);
  const delivery = { deliveryId: `msg_${random}`, webhookId, eventId, acceptedAt: date.getTime(), body };
  await sendMessages(target, 'WebhookDeliveryQueueUrl', [
    { body: writeDelivery(delivery), group: webhookId },
  ]);
  return eventId;
}
