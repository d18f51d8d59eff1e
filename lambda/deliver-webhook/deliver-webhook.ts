import type { DatabaseUnavailable } from '../database/database';
import { fail, ok, type Result } from '../shared/result';
import type { Delivery } from '../webhooks/delivery';
import { rotationOverlap } from '../webhooks/rotation';
import { sign } from '../webhooks/signature';
import type { SecretUnavailable, WebhookSecrets } from '../webhooks/webhook-secrets';
import type { CircuitBreaker } from './circuit-breaker';
import { type AttemptResult, type NextStep, nextStep, type RetrySchedule, reasonOf } from './next-step';

/** A webhook as it is at this moment. */
export interface Webhook {
  readonly url: string;
  readonly enabled: boolean;
  readonly secretVersion: number;
  /** When that version took over from the one before it: milliseconds since 1970. */
  readonly rotatedAt?: number;
}

export interface Webhooks {
  /** `undefined` for one that was removed. */
  find(webhookId: string): Promise<Result<Webhook | undefined, DatabaseUnavailable>>;
  record(attempt: Attempt): Promise<Result<unknown, DatabaseUnavailable>>;
  /** Disables it, unless its URL has changed since. */
  disable(webhookId: string, url: string, reason: string): Promise<Result<unknown, DatabaseUnavailable>>;
}

/** One request to a receiver and what came of it. It names no URL: that may carry a token. */
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
  /** When it is tried again: milliseconds since 1970. */
  readonly nextAttemptAt?: number;
}

export interface Receivers {
  /** Sends one `POST`, within the limits of time and size; never throws for what a receiver does. */
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<AttemptResult>;
}

/** Logs and counts what happens to deliveries. */
export interface DeliveryLog {
  attempted(attempt: Attempt, times: { readonly ageMs: number; readonly retryInMs?: number }): void;
  notRecorded(attempt: Attempt, cause: { readonly kind: string; readonly reason: string }): void;
  stopped(delivery: Delivery, reason: 'webhook_disabled' | 'webhook_removed'): void;
  /** It waits without an attempt: see `CircuitBreaker`. */
  circuitOpen(delivery: Delivery, retryInMs: number): void;
}

export interface DeliveryPorts {
  readonly webhooks: Webhooks;
  readonly secrets: WebhookSecrets;
  readonly receivers: Receivers;
  readonly circuitBreaker: CircuitBreaker;
  readonly deliveryLog: DeliveryLog;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly schedule: RetrySchedule;
}

/** What becomes of the message. */
export type Disposition =
  | { readonly kind: 'finished' }
  | { readonly kind: 'retry'; readonly inMs: number }
  | { readonly kind: 'given_up'; readonly reason: string };

/**
 * Attempts one delivery to the webhook's current URL. An error is an internal one: the receiver was not asked, or its
 * answer could not be acted upon, and the message waits.
 *
 * @param startedAt when the delivery was first taken from the queue, internal errors left out: milliseconds since 1970
 */
export async function deliverWebhook(
  delivery: Delivery,
  startedAt: number,
  ports: DeliveryPorts,
): Promise<Result<Disposition, DatabaseUnavailable | SecretUnavailable>> {
  const found = await ports.webhooks.find(delivery.webhookId);
  if (!found.ok) return found;
  const webhook = found.value;
  if (!webhook?.enabled) {
    ports.deliveryLog.stopped(delivery, webhook ? 'webhook_disabled' : 'webhook_removed');
    return ok({ kind: 'finished' });
  }

  const attemptedAt = ports.now();
  if (ports.circuitBreaker.isOpen(delivery.webhookId, attemptedAt)) {
    const moment = { now: attemptedAt, startedAt, random: ports.random() };
    const step = nextStep({ answered: false, reason: 'circuit_open' }, moment, ports.schedule);
    // What would be given up gets its last attempt all the same.
    if (step.outcome === 'failed') {
      ports.deliveryLog.circuitOpen(delivery, step.retryInMs);
      return ok({ kind: 'retry', inMs: step.retryInMs });
    }
  }
  const secrets = await currentSecrets(delivery.webhookId, webhook, attemptedAt, ports.secrets);
  if (!secrets.ok) return secrets;

  const result = await ports.receivers.post(
    webhook.url,
    headers(delivery, attemptedAt, secrets.value),
    delivery.body,
  );
  const now = ports.now();
  ports.circuitBreaker.record(delivery.webhookId, result, now);
  const step = nextStep(result, { now, startedAt, random: ports.random() }, ports.schedule);
  const attempt: Attempt = {
    eventId: delivery.eventId,
    webhookId: delivery.webhookId,
    deliveryId: delivery.deliveryId,
    attemptedAt,
    durationMs: now - attemptedAt,
    ...(result.answered ? { status: result.status } : {}),
    outcome: step.outcome,
    reason: reasonOf(result),
    ...(step.outcome === 'failed' ? { nextAttemptAt: now + step.retryInMs } : {}),
  };
  ports.deliveryLog.attempted(attempt, {
    ageMs: now - delivery.acceptedAt,
    ...(step.outcome === 'failed' ? { retryInMs: step.retryInMs } : {}),
  });

  // A row that cannot be written, for whatever reason, changes nothing for the receiver, and the log has the attempt.
  const recorded = await ports.webhooks
    .record(attempt)
    .catch(({ name, message }: Error) => fail({ kind: 'bug', reason: `${name}: ${message}` }));
  if (!recorded.ok) ports.deliveryLog.notRecorded(attempt, recorded.error);
  if (step.outcome === 'disabled') {
    const disabled = await ports.webhooks.disable(delivery.webhookId, webhook.url, attempt.reason);
    if (!disabled.ok) return disabled;
  }
  return ok(disposition(step, attempt.reason));
}

async function currentSecrets(
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

function disposition(step: NextStep, reason: string): Disposition {
  if (step.outcome === 'failed') return { kind: 'retry', inMs: step.retryInMs };
  return step.outcome === 'given_up' ? { kind: 'given_up', reason } : { kind: 'finished' };
}
