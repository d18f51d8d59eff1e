import { MetricUnit } from '@aws-lambda-powertools/metrics';
import type { AttemptReason, Delivery } from '../../domain/delivery';
import { type Disabling, disabledEvent } from '../../domain/event';
import type { MetricName } from '../../domain/metrics';
import { longestProbeAge, probe } from '../../domain/probe';
import { fail, ok, type Result } from '../../domain/result';
import { rotationOverlap, sign, signatureHeaders } from '../../domain/signature';
import type { DatabaseUnavailable } from '../database/database';
import { type Log, logCodes } from '../shared/log';
import type { Queue } from '../shared/queue';
import type { SecretUnavailable, WebhookSecrets } from '../shared/webhook-secrets';
import { type AttemptResult, isSlow, type NextStep, nextStep, reasonOf, slowAfter } from './retry-schedule';

/** What delivery needs of a webhook. */
export interface StoredWebhook {
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
  find(webhookId: string): Promise<Result<StoredWebhook | undefined, DatabaseUnavailable>>;
  /** Stores the attempt, and updates the webhook's health. */
  record(attempt: AttemptRow): Promise<Result<unknown, DatabaseUnavailable>>;
  /** Disables it, unless its URL has changed since. `undefined` if already disabled, or changed. */
  disable(
    webhookId: string,
    url: string,
    reason: string,
  ): Promise<Result<Disabling | undefined, DatabaseUnavailable>>;
}

/** One request to a receiver and its outcome, as recorded. It contains no URL, which may carry a token. */
export interface AttemptRow {
  readonly eventId: string;
  readonly webhookId: string;
  readonly deliveryId: string;
  /** Milliseconds since 1970. */
  readonly attemptedAt: number;
  readonly durationMs: number;
  readonly status?: number;
  readonly outcome: NextStep['outcome'];
  readonly reason: AttemptReason;
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
    addMetric(name: MetricName<'deliver-webhook'>, unit: 'Count' | 'Milliseconds', value: number): unknown;
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

/** What becomes of a delivery's message. `requeue`: the delivery replaces it, in the second lane. */
export type Settled =
  | { readonly kind: 'done' }
  | { readonly kind: 'requeue'; readonly delivery: Delivery; readonly delayMs: number };

/** A delivery whose request is due. */
interface Due {
  readonly kind: 'due';
  readonly delivery: Delivery;
  readonly webhook: StoredWebhook;
  readonly secrets: readonly Uint8Array[];
}

/** A request that was made. Times are in milliseconds since 1970. */
interface Attempted extends Omit<Due, 'kind'> {
  readonly attemptedAt: number;
  readonly endedAt: number;
  readonly result: AttemptResult;
}

const done: Settled = { kind: 'done' };

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
): Promise<Result<Settled, DatabaseUnavailable | SecretUnavailable>> {
  const prepared = await prepare(delivery, lane, ports);
  if (!prepared.ok) return prepared;
  if (prepared.value.kind !== 'due') return ok(prepared.value);
  return settle(await post(prepared.value, lane, ports), ports);
}

async function prepare(
  delivery: Delivery,
  lane: Lane,
  ports: DeliveryPorts,
): Promise<Result<Due | Settled, DatabaseUnavailable | SecretUnavailable>> {
  const { webhookId, notBefore = 0 } = delivery;
  const early = notBefore - ports.now();
  if (early > 0) return ok({ kind: 'requeue', delivery, delayMs: early });
  const found = await ports.webhooks.find(webhookId);
  if (!found.ok) return found;
  const webhook = found.value;
  if (!webhook?.enabled) {
    const reason = webhook ? 'webhook_disabled' : 'webhook_removed';
    const line = { logCode: logCodes.webhookDeliveryStopped, ...idsOf(delivery), reason };
    ports.log.info('Webhook delivery stopped', line);
    return ok(done);
  }
  if (lane === 'first' && webhook.unhealthy) return ok({ kind: 'requeue', delivery, delayMs: 0 });
  const secrets = await findSigningSecrets(webhookId, webhook, ports);
  return secrets.ok ? ok({ kind: 'due', delivery, webhook, secrets: secrets.value }) : secrets;
}

async function post(
  { delivery, webhook, secrets }: Due,
  lane: Lane,
  { receivers, now }: DeliveryPorts,
): Promise<Attempted> {
  const attemptedAt = now();
  const result = await receivers.post({
    webhookId: delivery.webhookId,
    url: webhook.url,
    headers: createHeaders(delivery, attemptedAt, secrets),
    body: delivery.body,
    ...(lane === 'first' && { limit: slowAfter }),
  });
  return { delivery, webhook, secrets, attemptedAt, endedAt: now(), result };
}

/** Decides what follows the attempt, records it, and disables its webhook after a 410. */
async function settle(
  attempted: Attempted,
  ports: DeliveryPorts,
): Promise<Result<Settled, DatabaseUnavailable>> {
  const { delivery, webhook, attemptedAt, endedAt: now, result } = attempted;
  const { random } = ports;
  const schedule = isProbe(delivery)
    ? ports.schedule.filter((time) => time <= longestProbeAge)
    : ports.schedule;
  const step = nextStep(result, attemptOf(delivery), { attemptedAt, now, random: random(), schedule });
  report(attempted, step, ports);
  await record(attempted, step, ports);
  if (step.outcome === 'failed') {
    const { retryInMs: delayMs, attempt } = step;
    const notBefore = Math.round(now + delayMs);
    return ok({ kind: 'requeue', delivery: { ...delivery, attempt, notBefore }, delayMs });
  }
  if (step.outcome === 'disabled') {
    const disabled = await ports.webhooks.disable(delivery.webhookId, webhook.url, reasonOf(result));
    if (!disabled.ok) return disabled;
    if (disabled.value) await announceDisabling(disabled.value, ports);
  }
  return ok(done);
}

/** In the log and the metrics. The probe's count nowhere: they would keep an alarm on customers' deliveries silent. */
function report(attempted: Attempted, step: NextStep, { log, metrics }: DeliveryPorts): void {
  const { delivery, endedAt, result } = attempted;
  const { outcome } = step;
  const ageMs = endedAt - delivery.acceptedAt;
  const retryInMs = step.outcome === 'failed' ? step.retryInMs : undefined;
  const { attemptedAt: _, ...row } = rowOf(attempted, step);
  const line = { logCode: logCodes.webhookAttempted, ...row, attempt: attemptOf(delivery), ageMs, retryInMs };
  if (outcome === 'delivered') log.info('Webhook delivered', line);
  else log.warn('Webhook not delivered', line);
  if (isProbe(delivery)) return;
  if (!isSlow(result)) metrics.addMetric(countOf[outcome], MetricUnit.Count, 1);
  if (outcome !== 'failed') metrics.addMetric('Age', MetricUnit.Milliseconds, ageMs);
}

const countOf = {
  delivered: 'Delivered',
  failed: 'Failed',
  disabled: 'Failed',
  given_up: 'GivenUp',
} as const;

/** In the database. The log has the attempt even if its row is missing; the receiver is not affected. */
async function record(attempted: Attempted, step: NextStep, { webhooks, log }: DeliveryPorts): Promise<void> {
  const retry = step.outcome === 'failed' ? { nextAttemptAt: attempted.endedAt + step.retryInMs } : {};
  const recorded = await webhooks
    .record({ ...rowOf(attempted, step), ...retry })
    .catch(({ name, message }: Error) => fail({ kind: 'internal_error', reason: `${name}: ${message}` }));
  if (recorded.ok) return;
  const logCode = logCodes.webhookAttemptNotRecorded;
  const { kind: cause, ...why } = recorded.error;
  log.error('Webhook attempt not recorded', { logCode, ...idsOf(attempted.delivery), cause, ...why });
}

const rowOf = ({ delivery, attemptedAt, endedAt, result }: Attempted, { outcome }: NextStep): AttemptRow => ({
  ...idsOf(delivery),
  attemptedAt,
  durationMs: endedAt - attemptedAt,
  ...(result.answered && { status: result.status }),
  outcome,
  reason: reasonOf(result),
});

const idsOf = ({ eventId, webhookId, deliveryId }: Delivery) => ({ eventId, webhookId, deliveryId });

const isProbe = ({ webhookId }: Delivery) => webhookId === probe.webhookId;

const attemptOf = ({ attempt = 1 }: Delivery) => attempt;

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
  { secretVersion, rotatedAt }: StoredWebhook,
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

/** Standard Webhooks' headers, and the signature under the service's own names too. */
function createHeaders({ deliveryId: id, body }: Delivery, now: number, secrets: readonly Uint8Array[]) {
  const timestamp = Math.floor(now / 1_000);
  const signature = sign({ id, timestamp, body }, secrets);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    ...Object.fromEntries(signatureHeaders.map((name) => [name, signature])),
  };
}
