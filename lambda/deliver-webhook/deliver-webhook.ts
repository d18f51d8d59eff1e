import type { Delivery } from '../../domain/delivery';
import type { Disabling } from '../../domain/event';
import { fail, ok, type Result } from '../../domain/result';
import { rotationOverlap, sign } from '../../domain/webhook-secrets';
import type { DatabaseUnavailable } from '../database/database';
import type { Queue, QueueUnavailable } from '../webhooks/queue';
import type { SecretUnavailable, WebhookSecrets } from '../webhooks/webhook-secrets';
import type { CircuitBreaker } from './circuit-breaker';
import { type AttemptResult, type NextStep, nextStep, type RetrySchedule, reasonOf } from './next-step';
import { type Pace, type Slots, slotTolerance, waitForSlot } from './pace';
import type { ReceivedDelivery } from './request';
import { type BeingTold, settleDisabling, tellDisabling, type UntoldDisabling } from './tell-disabling';

/** A webhook as it is at this moment. */
export interface Webhook {
  readonly url: string;
  readonly enabled: boolean;
  readonly secretVersion: number;
  /** When that version took over from the one before it: milliseconds since 1970. */
  readonly rotatedAt?: number;
  /** Of a disabled one of which the organization may not have been told. */
  readonly untold?: UntoldDisabling;
}

export interface Webhooks {
  /** `undefined` for one that was removed. */
  find(webhookId: string): Promise<Result<Webhook | undefined, DatabaseUnavailable>>;
  record(attempt: Attempt): Promise<Result<unknown, DatabaseUnavailable>>;
  /** Disables it, unless its URL has changed since. `undefined` when it did nothing: another delivery was first. */
  disable(
    webhookId: string,
    url: string,
    reason: string,
  ): Promise<Result<Disabling | undefined, DatabaseUnavailable>>;
  /** Remembers that the organization was told of it. */
  told(disabling: Disabling): Promise<Result<unknown, DatabaseUnavailable>>;
}

/** One request to a receiver and its outcome. It has no URL, which may carry a token. */
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
  /** Sends one `POST`, within the limits of time and size; never throws for what a receiver does. */
  post(request: WebhookRequest): Promise<AttemptResult>;
}

export interface WebhookRequest {
  /** Connections are kept for one webhook, and never shared with another. */
  readonly webhookId: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Logs and counts what happens to deliveries. */
export interface DeliveryLog {
  attempted(
    attempt: Attempt,
    times: { readonly ageMs: number; readonly retryInMs: number | undefined },
  ): void;
  notRecorded(attempt: Attempt, cause: { readonly kind: string; readonly reason: string }): void;
  /** Its organization was told, by the event. */
  disabled(disabling: Disabling, eventId: string): void;
  stopped(delivery: Delivery, reason: 'webhook_disabled' | 'webhook_removed'): void;
  /** It is retried later, without an attempt now: see `CircuitBreaker`. */
  circuitOpen(delivery: Delivery, retryInMs: number): void;
  /** It waits for its slot: see `Pace`. */
  putOff(delivery: Delivery, waitMs: number): void;
}

export interface DeliveryPorts {
  readonly webhooks: Webhooks;
  /** The queue of events. */
  readonly events: Pick<Queue, 'send'>;
  readonly slots: Slots;
  readonly secrets: WebhookSecrets;
  readonly receivers: Receivers;
  readonly circuitBreaker: CircuitBreaker;
  readonly deliveryLog: DeliveryLog;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly schedule: RetrySchedule;
  readonly pace: Pace;
}

/** What follows, and why. `stopped`: the webhook is disabled or removed. `put_off`: its slot is yet to come. */
export type DeliveryStep =
  | ((NextStep | { readonly outcome: 'stopped' }) & { readonly reason: string })
  | { readonly outcome: 'put_off'; readonly waitMs: number };

/**
 * Attempts one delivery to the webhook's current URL. An error is an internal one: no request was sent, or its response
 * could not be acted upon, and the message is retried.
 */
export async function deliverWebhook(
  received: ReceivedDelivery,
  ports: DeliveryPorts,
): Promise<Result<DeliveryStep, DatabaseUnavailable | SecretUnavailable | QueueUnavailable | BeingTold>> {
  const { delivery, startedAt } = received;
  const found = await ports.webhooks.find(delivery.webhookId);
  if (!found.ok) return found;
  const webhook = found.value;
  if (!webhook?.enabled) {
    const settled = await settleDisabling(webhook?.untold, ports);
    if (!settled.ok) return settled;
    const reason = webhook ? 'webhook_disabled' : 'webhook_removed';
    ports.deliveryLog.stopped(delivery, reason);
    return ok({ outcome: 'stopped', reason });
  }

  const beganAt = ports.now();
  if (ports.circuitBreaker.isOpen(delivery.webhookId, beganAt)) {
    const moment = { now: beganAt, startedAt, random: ports.random() };
    const reason = 'circuit_open';
    const step = nextStep({ answered: false, reason }, moment, ports.schedule);
    // A delivery that would be given up gets its last attempt all the same.
    if (step.outcome === 'failed') {
      ports.deliveryLog.circuitOpen(delivery, step.retryInMs);
      return ok({ ...step, reason });
    }
  }
  const secrets = await signingSecrets(delivery.webhookId, webhook, beganAt, ports.secrets);
  if (!secrets.ok) return secrets;

  // Last of all: what is not attempted takes no slot from others.
  const wait = await waitForSlot(received, beganAt, ports);
  if (!wait.ok) return wait;
  if (wait.value > slotTolerance.early) {
    ports.deliveryLog.putOff(delivery, wait.value);
    return ok({ outcome: 'put_off', waitMs: wait.value });
  }

  const attemptedAt = ports.now();
  const result = await ports.receivers.post({
    webhookId: delivery.webhookId,
    url: webhook.url,
    headers: headers(delivery, attemptedAt, secrets.value),
    body: delivery.body,
  });
  const now = ports.now();
  ports.circuitBreaker.record(delivery.webhookId, result, now);
  const step = nextStep(result, { now, startedAt, random: ports.random() }, ports.schedule);
  const retryInMs = step.outcome === 'failed' ? step.retryInMs : undefined;
  const attempt: Attempt = {
    eventId: delivery.eventId,
    webhookId: delivery.webhookId,
    deliveryId: delivery.deliveryId,
    attemptedAt,
    durationMs: now - attemptedAt,
    ...(result.answered ? { status: result.status } : {}),
    outcome: step.outcome,
    reason: reasonOf(result),
    ...(retryInMs === undefined ? {} : { nextAttemptAt: now + retryInMs }),
  };
  ports.deliveryLog.attempted(attempt, { ageMs: now - delivery.acceptedAt, retryInMs });

  // Without its row the attempt is still in the log, and nothing changes for the receiver.
  const recorded = await ports.webhooks
    .record(attempt)
    .catch(({ name, message }: Error) => fail({ kind: 'internal_error', reason: `${name}: ${message}` }));
  if (!recorded.ok) ports.deliveryLog.notRecorded(attempt, recorded.error);
  if (step.outcome === 'disabled') {
    const disabled = await ports.webhooks.disable(delivery.webhookId, webhook.url, attempt.reason);
    if (!disabled.ok) return disabled;
    const told = disabled.value ? await tellDisabling(disabled.value, ports) : disabled;
    if (!told.ok) return told;
  }
  return ok({ ...step, reason: attempt.reason });
}

async function signingSecrets(
  webhookId: string,
  { secretVersion, rotatedAt }: Webhook,
  now: number,
  secrets: WebhookSecrets,
): Promise<Result<readonly Uint8Array[], SecretUnavailable>> {
  const rotating = secretVersion > 1 && rotatedAt !== undefined && now < rotatedAt + rotationOverlap;
  const versions = rotating ? [secretVersion, secretVersion - 1] : [secretVersion];
  const found: Uint8Array[] = [];
  for (const secret of await Promise.all(versions.map((version) => secrets.secret(webhookId, version)))) {
    if (!secret.ok) return fail(secret.error);
    found.push(secret.value);
  }
  return ok(found);
}

/** Standard Webhooks' headers, and the signature under both names that the service's descriptions know. */
function headers(delivery: Delivery, now: number, secrets: readonly Uint8Array[]): Record<string, string> {
  const timestamp = Math.floor(now / 1_000);
  const signature = sign({ id: delivery.deliveryId, timestamp, body: delivery.body }, secrets);
  return {
    'webhook-id': delivery.deliveryId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signature,
    'X-SVC-WEBHOOK-SIGNATURE': signature,
    'Svc-Signature': signature,
  };
}
