import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { writeDelivery } from '../domain/delivery';
import type { Webhook } from '../domain/operations';
import { requireDelivered, waitForAttempt } from './delivery-outcome';
import { time, withEnvironment } from './options';
import { sendMessages } from './queue-messages';
import { openTarget, type Target } from './target';
import type { Terminal } from './terminal';
import { describeWebhook, requireEnabled, type WebhookOptions, webhookOption } from './webhooks';

interface TestOptions extends WebhookOptions {
  /** Seconds. */
  readonly timeout: number;
}

const help = `
The event is of kind webhook.test, whatever kinds the webhook wants; no other webhook gets it, and it has no data of the
organization. It is signed and sent as any other, and tried again for 72 hours if it fails. It needs no --allow-production.

Exit codes: 0 the receiver answered with 2xx; 1 it did not, or not in time; 2 used wrongly.

Examples:
  wallet webhook test --webhook wh-…
  wallet webhook test --environment uae --webhook wh-… --json`;

export function register(group: Command, terminal: Terminal): void {
  withEnvironment(group.command('test'))
    .summary('send a webhook a signed test event, and print how its receiver answered')
    .description('Sends one webhook a signed event of kind webhook.test, and waits for its first attempt.')
    .requiredOption(...webhookOption)
    .addOption(time('--timeout <time>', 'how long the attempt is waited for', { usual: '1m', atMost: '15m' }))
    .addHelpText('after', help)
    .action((options: TestOptions) => test(options, terminal));
}

async function test({ webhook: webhookId, timeout, ...options }: TestOptions, terminal: Terminal) {
  const target = await openTarget(options, terminal);
  const webhook = await describeWebhook(target, webhookId);
  requireEnabled(webhook, target);
  const eventId = await sendTestEvent(target, webhook);
  terminal.note(`Sent ${eventId} to ${webhook.url}. Waiting for its attempt …`);

  const attempt = await waitForAttempt(target, { eventId, webhookId }, { seconds: timeout });
  const { status, durationMs, outcome } = attempt;
  const words = `${outcome}, answered ${status ?? 'nothing'} after ${durationMs} ms`;
  terminal.result(options.json ? JSON.stringify(attempt) : words);
  requireDelivered(attempt);
}

/** Puts it on the delivery queue itself: the events queue is for all webhooks of the organization. */
async function sendTestEvent(target: Target, { webhookId, organizationId }: Webhook): Promise<string> {
  const random = randomBytes(16).toString('hex');
  const id = `evt_test_${random}`;
  const date = new Date();
  const body = { id, organizationId, kind: 'webhook.test', date: date.toISOString(), data: { webhookId } };
  const delivery = {
    deliveryId: `msg_${random}`,
    webhookId,
    eventId: id,
    acceptedAt: date.getTime(),
    body: JSON.stringify(body),
  };
  const message = { body: writeDelivery(delivery), group: webhookId };
  await sendMessages(target, 'WebhookDeliveryQueueUrl', [message]);
  return id;
}
