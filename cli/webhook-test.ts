import { randomBytes } from 'node:crypto';
import { type Attempt, writeDelivery } from '../domain/delivery';
import type { Webhook } from '../domain/operations';
import type { Definition } from './environment-command';
import { CommandFailed } from './failure';
import { OperationRefused, runOperation } from './operations-function';
import { poll } from './poll';
import { sendMessages } from './queue-messages';
import type { Target } from './target';
import { describeEnabledWebhook } from './webhooks';

export const testWebhook: Definition<{ readonly webhook: string; readonly timeout: number }> = {
  summary: 'send a webhook a signed test event, and print the first attempt',
  help: `Only this webhook gets the event, whatever kinds it wants; it has no data of the organization and needs no
--allow-production. It is retried for 72 hours if it fails.`,
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
  const message = { body: writeDelivery(delivery), group: webhookId };
  await sendMessages(target, 'WebhookDeliveryQueueUrl', [message]);
  return eventId;
}

interface WaitOptions {
  readonly seconds: number;
  readonly signal?: AbortSignal;
  /** @default - the first attempt will do */
  readonly isOver?: (attempt: Attempt) => boolean;
}

/** Waits for an attempt; returns the last one after the timeout. @throws CommandFailed if there is no attempt */
export async function waitForAttempt(
  target: Target,
  { eventId, webhookId }: Pick<Attempt, 'eventId' | 'webhookId'>,
  { isOver = () => true, ...options }: WaitOptions,
): Promise<Attempt> {
  let last: Attempt | undefined;
  const ask = async () => {
    try {
      const query = { eventId, webhookId, limit: 1 };
      [last] = (await runOperation(target, 'list-delivery-attempts', query)).attempts;
    } catch (error) {
      // Not fanned out yet.
      if (!(error instanceof OperationRefused && error.code === 'event_not_found')) throw error;
    }
    return last && isOver(last) ? last : undefined;
  };
  const attempt = (await poll(ask, { every: 500, ...options })) ?? last;
  if (attempt) return attempt;
  throw new CommandFailed(
    `No delivery was attempted within ${options.seconds} s.`,
    `The consumers may be off, or messages waiting: ${target.paste('origin-status')}\nOtherwise see the logs of the functions that fan out and deliver, in ${target.logs}.`,
  );
}

/** @throws CommandFailed for any outcome but `delivered`, with the remedy */
export function requireDelivered({ outcome, reason, status }: Attempt): void {
  if (outcome === 'delivered') return;
  throw new CommandFailed(
    `The receiver ${status === null ? 'did not answer' : `answered ${status}`}: ${outcome}, ${reason}.`,
    remedies.find(([pattern]) => pattern.test(`${status ?? reason}`))?.[1],
  );
}

/** By the status, or by the reason why there is none. */
const remedies: readonly (readonly [RegExp, string])[] = [
  [/^401$/, 'It refused the signature: give it the secret of "wallet webhook secret", and check its clock.'],
  [/^410$/, 'This disabled the webhook. Have the receiver answer 2xx, then: wallet webhook enable.'],
  [/^3\d\d$/, 'Redirects are not followed. Give the final URL: wallet webhook update --url.'],
  [/^5\d\d$/, 'See the log of the receiver.'],
  [/^\d+$/, 'It has to answer 2xx: check the path of the URL, and any proxy or firewall in front of it.'],
  [/refused/, 'Nothing listens at the URL: start the receiver (wallet local receive), and check the port.'],
  [/timeout/, 'It has to answer within 15 s: allow the address in its firewall, see "wallet origins".'],
  [/certificate|tls/, 'It needs an unexpired certificate of a public authority for the name in the URL.'],
  [/./, 'Check that the URL leads to the receiver, from the internet.'],
];
