import { MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Delivery } from '../../domain/delivery';
import { type Disabling, disabledEvent } from '../../domain/event';
import { fail, ok, type Result } from '../../domain/result';
import { rotationOverlap, sign } from '../../domain/signature';
import type { DatabaseUnavailable } from '../database/database';
import { type Log, logCodes } from '../shared/log';
import type { Queue } from '../shared/queue';
import { type AttemptResult, isSlow, type NextStep, nextStep, reasonOf, slowAfter } from './retry-schedule';
import type { SecretUnavailable, WebhookSecrets } from './secrets';
import type { DeliveryMetric } from './variables';

/** A webhook, as stored. */
export interface Webhook {
  readonly url: string;
  readonly enabled: boolean;
  /** Its last attempts were slow or failed: its deliveries take the second lane. */
  readonly unhealthy: boolean;
  readonly secretVersion: number;
  /** When that version replaced the previous one: milliseconds since 1970. */
  readonly rotatedAt?: number;
}

export interface Webhooks {
  /** `undefined` if it was removed. */
  find(webhookId: string): Promise<Result<Webhook | undefined, DatabaseUnavailable>>;
  /** Stores the attempt, and updates the webhook's health. */
  record(attempt: Attempt): Promise<Result<unknown, DatabaseUnavailable>>;
  /** Disables it, unless its URL has changed since. `undefined` if already disabled, or changed. */
  disable(
    webhookId: string,
    url: string,
    reason: string,
  ): Promise<Result<Disabling | undefined, DatabaseUnavailable>>;
}

/** One request to a receiver and its outcome. It contains no URL, which may carry a token. */
export interface Attempt {
  readonly eventId: string;
  readonly webhookId: string;
  readonly deliveryId: string;
  /** Milliseconds since 1970. */
  readonly attemptedAt: number;
  readonly durationMs: number;
  readonly status?: number;
  readonly outcome: NextStep['outcome'];
  readonly reason: string;
  /** When it is retried: milliseconds since 1970. */
  readonly nextAttemptAt?: number;
}

export interface Receivers {
  /** Sends one `POST`, within the limits of time and size; never throws because of a receiver. */
  post(request: WebhookRequest): Promise<AttemptResult>;
}

export interface WebhookRequest {
  /** Connections are reused per webhook, never shared. */
  readonly webhookId: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Milliseconds after which it ends as `slow`. @default - `responseTimeout`, as `timeout` */
  readonly limit?: number;
}

export interface DeliveryPorts {
  readonly webhooks: Webhooks;
  readonly secrets: WebhookSecrets;
  readonly receivers: Receivers;
  /** The queue of events. */
  readonly events: Pick<Queue, 'send'>;
  readonly log: Log;
  readonly metrics: {
    addMetric(name: DeliveryMetric, unit: 'Count' | 'Milliseconds', value: number): unknown;
  };
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Milliseconds from the first attempt to each. */
  readonly schedule: readonly number[];
}

/**
 * Deliveries use the first lane while their webhook is healthy, and the second after a slow or failed attempt: a batch
 * takes as long as its slowest receiver, which must not delay the others. An attempt in the first lane ends after
 * `slowAfter`. It is made again in the second with all of `responseTimeout`, and not before a receiver that keeps to that
 * time has finished the first.
 */
export type Lane = 'first' | 'second';

/** Send the delivery to the second lane's queue, replacing its message. */
export interface Requeue {
  readonly delivery: Delivery;
  readonly delayMs: number;
}

/**
 * Attempts one delivery to the webhook's current URL.
 *
 * Errors are internal: no request was sent, or its response could not be processed. The message is then received again
 * with the same attempt number, so that the receiver loses no attempt.
 */
export async function deliverWebhook(
  delivery: Delivery,
  lane: Lane,
  ports: DeliveryPorts,
): Promise<Result<'done' | Requeue, DatabaseUnavailable | SecretUnavailable>> {
  const { webhooks, log, metrics } = ports;
  const { eventId, webhookId, deliveryId, attempt = 1, notBefore = 0 } = delivery;
  const ids = { eventId, webhookId, deliveryId };
  const early = notBefore - ports.now();
  if (early > 0) return ok({ delivery, delayMs: early });

  const found = await webhooks.find(webhookId);
  if (!found.ok) return found;
  const webhook = found.value;
  if (!webhook?.enabled) {
    const reason = webhook ? 'webhook_disabled' : 'webhook_removed';
    log.info('Webhook delivery stopped', { logCode: logCodes.webhookDeliveryStopped, ...ids, reason });
    return ok('done');
  }
  if (lane === 'first' && webhook.unhealthy) return ok({ delivery, delayMs: 0 });
  const secrets = await findSigningSecrets(webhookId, webhook, ports);
  if (!secrets.ok) return secrets;

  const attemptedAt = ports.now();
  const result = await ports.receivers.post({
    webhookId,
    url: webhook.url,
    headers: createHeaders(delivery, attemptedAt, secrets.value),
    body: delivery.body,
    ...(lane === 'first' && { limit: slowAfter }),
  });
  const now = ports.now();
  const durationMs = now - attemptedAt;
  const { schedule } = ports;
  const step = nextStep(result, attempt, { attemptedAt, now, random: ports.random(), schedule });
  const { outcome } = step;
  const retryInMs = step.outcome === 'failed' ? step.retryInMs : undefined;
  const reason = reasonOf(result);
  const status = result.answered ? { status: result.status } : {};
  const attempted = { ...ids, durationMs, ...status, outcome, reason };
  const ageMs = now - delivery.acceptedAt;
  const line = { logCode: logCodes.webhookAttempted, ...attempted, attempt, ageMs, retryInMs };
  if (outcome === 'delivered') log.info('Webhook delivered', line);
  else log.warn('Webhook not delivered', line);
  if (!isSlow(result)) metrics.addMetric(countOf[outcome], MetricUnit.Count, 1);
  if (outcome !== 'failed') metrics.addMetric('Age', MetricUnit.Milliseconds, ageMs);

  const retry = retryInMs === undefined ? {} : { nextAttemptAt: now + retryInMs };
  // The log has the attempt even if its row is missing; the receiver is not affected.
  const recorded = await webhooks
    .record({ ...attempted, attemptedAt, ...retry })
    .catch(({ name, message }: Error) => fail({ kind: 'internal_error', reason: `${name}: ${message}` }));
  if (!recorded.ok) {
    const logCode = logCodes.webhookAttemptNotRecorded;
    const { kind: cause, ...why } = recorded.error;
    log.error('Webhook attempt not recorded', { logCode, ...ids, cause, ...why });
  }

  if (step.outcome === 'failed') {
    const { retryInMs: delayMs, attempt: next } = step;
    return ok({ delivery: { ...delivery, attempt: next, notBefore: Math.round(now + delayMs) }, delayMs });
  }
  if (step.outcome === 'disabled') {
    const disabled = await webhooks.disable(webhookId, webhook.url, reason);
    if (!disabled.ok) return disabled;
    if (disabled.value) await announceDisabling(disabled.value, ports);
  }
  return ok('done');
}

const countOf = {
  delivered: 'Delivered',
  failed: 'Failed',
  disabled: 'Failed',
  given_up: 'GivenUp',
} as const;

/** Sends the event `webhook.disabled`, without retry: the webhook stays disabled if this fails. */
async function announceDisabling(
  disabling: Disabling,
  { events, log, metrics }: DeliveryPorts,
): Promise<void> {
  const { id: eventId, text } = disabledEvent(disabling);
  const { webhookId, organizationId, reason } = disabling;
  const sent = await events.send([{ body: text, group: organizationId }]);
  const unsent = sent.ok ? {} : { cause: sent.error.kind, notSent: sent.error.reason };
  const line = { logCode: logCodes.webhookDisabled, webhookId, organizationId, reason, eventId, ...unsent };
  log.warn('Webhook disabled', line);
  metrics.addMetric('Disabled', MetricUnit.Count, 1);
}

/** For 24 h after a rotation, both versions sign. */
async function findSigningSecrets(
  webhookId: string,
  { secretVersion, rotatedAt }: Webhook,
  { secrets, now }: DeliveryPorts,
): Promise<Result<readonly Uint8Array[], SecretUnavailable>> {
  const overlaps = secretVersion > 1 && rotatedAt !== undefined && now() < rotatedAt + rotationOverlap;
  const versions = overlaps ? [secretVersion, secretVersion - 1] : [secretVersion];
  const found: Uint8Array[] = [];
  for (const secret of await Promise.all(versions.map((version) => secrets.secret(webhookId, version)))) {
    if (!secret.ok) return secret;
    found.push(secret.value);
  }
  return ok(found);
}

/** Standard Webhooks' headers, and the signature under both names in the service's specifications. */
function createHeaders({ deliveryId: id, body }: Delivery, now: number, secrets: readonly Uint8Array[]) {
  const timestamp = Math.floor(now / 1_000);
  const signature = sign({ id, timestamp, body }, secrets);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
    'X-SVC-WEBHOOK-SIGNATURE': signature,
    'Svc-Signature': signature,
  };
}
