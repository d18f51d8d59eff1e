import { isDeepStrictEqual } from 'node:util';
import type { Attempt } from '../../domain/delivery';
import type { NewEvent } from '../../domain/event';
import { explainAttempt, lastAttempt, type Sent } from '../delivery-outcome';
import { CommandFailed } from '../failure';
import { runOperation } from '../operations-function';
import { describeStack, openOriginClients } from '../origin/origin';
import { poll } from '../poll';
import type { ReceivedRequest } from '../receive/receiver';
import { verify } from '../receive/verification';
import type { Target } from '../target';
import { openWebhookSecrets } from '../webhook/secrets';
import { type SmokeReceiver, sourceOf } from './receiver';
import type { StepOutput } from './run';

export interface AddedWebhook {
  readonly webhookId: string;
  readonly secret: string;
}

export async function addWebhook(
  target: Target,
  organizationId: string,
  url: string,
): Promise<StepOutput<AddedWebhook>> {
  const { webhookId, secretVersion } = await runOperation(target, 'add-webhook', {
    organizationId,
    url,
    kinds: null,
  });
  const deriveSecret = await openWebhookSecrets(target);
  const secret = await deriveSecret(webhookId, secretVersion);
  return { value: { webhookId, secret }, detail: `${webhookId} to ${url}` };
}

/** Expects that the delivery verifies by the webhook's secret, under each header, and tells the event as it was sent. */
export async function expectSigned(arrival: ReceivedRequest, { secret }: AddedWebhook, event: NewEvent) {
  const verification = verify(arrival, [{ secret }]);
  if (!verification.verified) {
    throw new CommandFailed(
      `The delivery does not verify: ${verification.reason}.`,
      'Check that the delivery function and WebhookSecretsKeyArn in the outputs file are of the same stack, and the clock of this machine.',
    );
  }
  const { id, organizationId, kind, data } = JSON.parse(arrival.body) as Record<string, unknown>;
  const sent = { ...event, data: JSON.parse(event.data) };
  if (!isDeepStrictEqual({ id, organizationId, kind, data }, sent))
    throw new CommandFailed('The delivery is signed, but tells another event than the one that was sent.');
  return { value: true, detail: `Standard Webhooks, ${String(arrival.headers['webhook-id'])}` };
}

/**
 * Expects that the delivery came from the address that receivers have on their allow-lists: from the reserve only while
 * the stack says that it is in use, because not every receiver allows it.
 */
export async function expectFromOrigin(target: Target, arrival: ReceivedRequest) {
  const expected = target.output('WebhookOriginAddress');
  const source = sourceOf(arrival);
  if (source === target.optionalOutput('WebhookOriginReserveAddress')) {
    if (await usesReserve(target))
      return { value: source, detail: `${source}, the reserve, which is in use` };
    throw new CommandFailed(
      `The delivery came from the reserve ${source}, which stack ${target.environment.stackId} has not put in use: receivers expect ${expected}.`,
      `See ${target.paste('origin-status')}`,
    );
  }
  if (source !== expected) {
    const forwarded = arrival.headers['x-forwarded-for'];
    throw new CommandFailed(
      `The delivery came from ${source}, not from ${expected}. The listener saw ${arrival.from}, X-Forwarded-For says ${forwarded ?? 'nothing'}.`,
      forwarded
        ? `If a content delivery network stands between, lead the URL past it. Otherwise see ${target.paste('origin-status')}`
        : 'Have the proxy or tunnel before the listener add X-Forwarded-For.',
    );
  }
  return { value: source, detail: source };
}

async function usesReserve(target: Target): Promise<boolean> {
  if (!target.offers('cloudformation')) return false;
  return (await describeStack(await openOriginClients(target))).reserve;
}

/** What a delivery is waited for with. */
export interface DeliveryWait {
  readonly seconds: number;
  /** They have passed already: it looks once. @default false */
  readonly over?: boolean;
  readonly signal: AbortSignal;
}

/** Waits for the delivery at the receiver that this command runs. */
export async function expectDelivery(
  target: Target,
  sent: Sent,
  delivery: NonNullable<SmokeReceiver['delivery']>,
  { seconds, signal }: DeliveryWait,
): Promise<StepOutput<ReceivedRequest>> {
  const begun = Date.now();
  const arrival = await delivery(seconds, signal);
  if (!arrival) throw explainAttempt(await lastAttempt(target, sent), { seconds, target });
  return { value: arrival, detail: `${((Date.now() - begun) / 1_000).toFixed(1)} s after it was sent` };
}

/** Waits until it is recorded that the receiver answered with 2xx. */
export async function expectDelivered(target: Target, sent: Sent, timeout: DeliveryWait) {
  let last: Attempt | undefined;
  await poll(
    async () => {
      last = await lastAttempt(target, sent);
      return last && last.outcome !== 'failed' ? last : undefined;
    },
    { every: 500, seconds: timeout.over ? 0 : timeout.seconds, signal: timeout.signal },
  );
  if (last?.outcome !== 'delivered') throw explainAttempt(last, { seconds: timeout.seconds, target });
  return { value: last, detail: `answered ${last.status} after ${last.durationMs} ms` };
}
