import { MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Delivery } from '../../domain/delivery';
import { type DisabledWebhook, disabledEvent } from '../../domain/event';
import { longestProbeAge, probe } from '../../domain/probe';
import { fail, ok, type Result, type Unavailable } from '../../domain/result';
import { rotationOverlap, sign, signatureHeaders } from '../../domain/signature';
import type { DatabaseUnavailable } from '../database/database';
import { logCodes } from '../shared/log';
import type { QueueUnavailable } from '../shared/queue';
import type { SecretUnavailable } from '../shared/webhook-secrets';
import type { Pause, Trial } from './health';
import type { DeliveryPorts, Disabled, Recorded, StoredWebhook, Successor } from './ports';
import {
  type AttemptResult,
  hasten,
  isSilent,
  isSlow,
  type NextStep,
  nextStep,
  pauseAsked,
  postpone,
  reasonOf,
  slowAfter,
} from './retry-schedule';
import { numberOf, standingOf } from './series';

/**
 * The delivery queue is for healthy webhooks: a batch takes as long as its slowest receiver. There an attempt ends after
 * `slowAfter`, and is made again from the retry queue once a receiver that keeps to 15 s has finished the first.
 */
export type QueueName = 'delivery' | 'retry';

/** Another copy has recorded the request that this one made, or a 410 is of a URL that was replaced: it is judged once it is received again. */
type AttemptTaken = Unavailable<'attempt_taken'> & {
  readonly retryInSeconds: number;
  readonly isExpected: true;
};

/** What becomes of a delivery's message. `requeue`: the delivery replaces it, in the retry queue. */
type Settled =
  | { readonly kind: 'done' }
  | { readonly kind: 'requeue'; readonly delivery: Delivery; readonly delayMs: number };

/** A request that was made. Times are in milliseconds since 1970. */
interface Attempted {
  readonly delivery: Delivery;
  readonly webhook: StoredWebhook;
  /** If it is the first request after a pause of its webhook. */
  readonly trial: Trial | undefined;
  readonly attemptedAt: number;
  readonly endedAt: number;
  readonly result: AttemptResult;
}

const done: Settled = { kind: 'done' };
const requeue = (delivery: Delivery, delayMs: number): Settled => ({ kind: 'requeue', delivery, delayMs });

/**
 * Attempts one delivery to the webhook's current URL.
 *
 * The attempts of a series form one chain, although SQS may deliver a message twice and a function may be killed between any
 * two calls. The order is: request, disabling, row, successor; the message goes only when SQS has its successor, or after a
 * final outcome. A message that comes back finds its row, makes no request, and sends the successor again. Errors are internal:
 * the message is received again with the same numbers, so that the receiver loses no attempt.
 *
 * @param again whether the message was received before
 */
export async function deliverWebhook(
  delivery: Delivery,
  { queue, again }: { readonly queue: QueueName; readonly again: boolean },
  ports: DeliveryPorts,
): Promise<Result<Settled, DatabaseUnavailable | SecretUnavailable | QueueUnavailable | AttemptTaken>> {
  const { webhookId, notBefore = 0 } = delivery;
  if (notBefore > ports.now()) return ok(await keep(delivery, notBefore, ports));
  const found = await ports.webhooks.find({ ...delivery, mayTry: queue === 'retry' });
  if (!found.ok) return found;
  const { webhook, trial } = found.value;
  const standing = standingOf(delivery, found.value);
  // If this fails, the claim ends by itself.
  if (standing.kind !== 'due' && trial) await ports.webhooks.release(webhookId, trial);
  // Even if its webhook is disabled: it may be enabled before the successor is due.
  if (standing.kind === 'made') return ok(succeed(delivery, standing.successor, ports));
  if (!webhook?.enabled) return stop(delivery, { again, webhook }, ports);
  if (standing.kind === 'done') return ok(done);
  const { pause } = webhook;
  if (queue === 'delivery' && (webhook.unhealthy || pause)) return ok(requeue(delivery, 0));
  if (pause && !trial) return wait(delivery, pause, ports);
  const secrets = await findSigningSecrets(webhookId, webhook, ports);
  if (!secrets.ok) return secrets;
  const attemptedAt = ports.now();
  const result = await ports.receivers.post({
    webhookId,
    url: webhook.url,
    headers: createHeaders(delivery, attemptedAt, secrets.value),
    body: delivery.body,
    ...(queue === 'delivery' && { limit: slowAfter }),
  });
  return settle({ delivery, webhook, trial, attemptedAt, endedAt: ports.now(), result }, ports);
}

/**
 * A delivery that came too early waits on. One that waits for a pause looks whether that has ended, by a command or a trial, which
 * no message tells it. A look drops nothing: a webhook that is disabled may be enabled before the delivery is due.
 */
async function keep(delivery: Delivery, notBefore: number, ports: DeliveryPorts): Promise<Settled> {
  const { attempt = 1, paused } = delivery;
  const found = paused === undefined ? undefined : await ports.webhooks.find(delivery);
  const webhook = found?.ok ? found.value.webhook : undefined;
  const now = ports.now();
  if (paused === undefined || !webhook?.enabled || webhook.pause) return requeue(delivery, notBefore - now);
  const timing = { now, random: ports.random(), schedule: scheduleOf(delivery, ports) };
  const hastened = hasten({ attempt, paused, notBefore }, timing);
  return requeue({ ...delivery, ...hastened }, hastened.notBefore - now);
}

async function stop(
  delivery: Delivery,
  { again, webhook }: { readonly again: boolean; readonly webhook: StoredWebhook | undefined },
  ports: DeliveryPorts,
): Promise<Result<Settled, QueueUnavailable>> {
  const reason = webhook ? 'webhook_disabled' : 'webhook_removed';
  const line = { logCode: logCodes.webhookDeliveryStopped, ...idsOf(delivery), reason };
  ports.log.info('Webhook delivery stopped', line);
  if (!again || !webhook?.disabling) return ok(done);
  const announced = await announceDisabling(webhook.disabling, ports);
  return announced.ok ? ok(done) : announced;
}

/**
 * Sends again the successor of a delivery whose request was made. Later than the row says, and than now, at a time of its own: it
 * may have been sent, and the first of the two records its attempt before the other begins.
 */
function succeed(delivery: Delivery, { attempt, notBefore }: Successor, ports: DeliveryPorts): Settled {
  const now = ports.now();
  const later = Math.max(notBefore, now) + 60_000 + Math.round(60_000 * ports.random());
  return requeue(follow(delivery, { attempt, notBefore: later }, ports.newToken), later - now);
}

/** A delivery of a paused webhook waits without a request, and is given up when no attempt would be left. */
async function wait(
  delivery: Delivery,
  pause: Pause,
  ports: DeliveryPorts,
): Promise<Result<Settled, DatabaseUnavailable>> {
  const now = ports.now();
  const timing = { now, random: ports.random(), schedule: scheduleOf(delivery, ports) };
  const postponed = postpone(delivery, pause, timing);
  if (postponed) return ok(requeue({ ...delivery, ...postponed }, postponed.notBefore - now));
  const outcome = { durationMs: 0, outcome: 'given_up', reason: 'paused' } as const;
  const recorded = await ports.webhooks.record({ ...rowOf(delivery), ...outcome, attemptedAt: now });
  if (!recorded.ok) return recorded;
  if (!recorded.value.isWritten) return ok(done);
  const line = { logCode: logCodes.webhookDeliveryStopped, ...idsOf(delivery), reason: 'paused' };
  ports.log.warn('Webhook delivery given up', line);
  ports.metrics.addMetric('GivenUp', MetricUnit.Count, 1);
  return ok(done);
}

const judgedAgain = (reason: string) =>
  fail<AttemptTaken>({ kind: 'attempt_taken', reason, retryInSeconds: 60, isExpected: true });

const scheduleOf = (delivery: Delivery, { schedule }: DeliveryPorts) =>
  isProbe(delivery) ? schedule.filter((time) => time <= longestProbeAge) : schedule;

const follow = (delivery: Delivery, successor: Successor, newToken: () => string): Delivery => ({
  ...withoutPause(delivery),
  ...successor,
  number: numberOf(delivery) + 1,
  copy: newToken(),
});

const withoutPause = ({ paused: _, ...delivery }: Delivery) => delivery;

/** Decides what follows the attempt, disables its webhook after a 410, and records it. */
async function settle(
  attempted: Attempted,
  ports: DeliveryPorts,
): Promise<Result<Settled, DatabaseUnavailable | QueueUnavailable | AttemptTaken>> {
  let announcing: Promise<Result<null, QueueUnavailable>> | undefined;
  const { delivery, webhook, attemptedAt, endedAt: now, result } = attempted;
  const step = nextStep(result, attemptOf(delivery), {
    attemptedAt,
    now,
    schedule: scheduleOf(delivery, ports),
    random: ports.random(),
    ...(delivery.paused !== undefined && { paused: delivery.paused }),
  });
  log(attempted, step, ports);
  if (step.outcome === 'disabled') {
    const disabled = await ports.webhooks.disable(delivery.webhookId, webhook.url, reasonOf(result));
    if (!disabled.ok) return disabled;
    if (!disabled.value) return judgedAgain('another URL');
    announcing = announceDisabling(disabled.value, ports);
  }
  const successor =
    step.outcome === 'failed'
      ? { attempt: step.attempt, notBefore: Math.round(now + step.retryInMs) }
      : undefined;
  const [{ isWritten, pause }, announced] = await Promise.all([
    record(attempted, step, successor, ports),
    announcing,
  ]);
  if (announced && !announced.ok) return announced;
  if (!isWritten) return judgedAgain('another copy');
  measure(attempted, step, ports);
  if (pause) tellPause(delivery, pause, ports);
  if (!successor) return ok(done);
  return ok(requeue(follow(delivery, successor, ports.newToken), successor.notBefore - now));
}

function log(attempted: Attempted, step: NextStep, ports: DeliveryPorts): void {
  const { delivery } = attempted;
  const line = {
    logCode: logCodes.webhookAttempted,
    ...idsOf(delivery),
    ...outcomeOf(attempted, step),
    ...(delivery.series !== undefined && { series: delivery.series }),
    ...(!attempted.result.answered && { detail: attempted.result.detail }),
    attempt: attemptOf(delivery),
    ageMs: ageOf(attempted),
    retryInMs: step.outcome === 'failed' ? step.retryInMs : undefined,
  };
  if (step.outcome === 'delivered') ports.log.info('Webhook delivered', line);
  else ports.log.warn('Webhook not delivered', line);
}

/** The probe's attempts count nowhere: they would keep an alarm on customers' deliveries silent. */
function measure(attempted: Attempted, { outcome }: NextStep, { metrics }: DeliveryPorts): void {
  if (isProbe(attempted.delivery)) return;
  if (!isSlow(attempted.result)) metrics.addMetric(countOf[outcome], MetricUnit.Count, 1);
  if (outcome !== 'failed') metrics.addMetric('Age', MetricUnit.Milliseconds, ageOf(attempted));
}

const ageOf = ({ delivery, endedAt }: Attempted) => endedAt - delivery.acceptedAt;

const countOf = {
  delivered: 'Delivered',
  failed: 'Failed',
  disabled: 'Failed',
  given_up: 'GivenUp',
} as const;

/** Records the attempt in the database. Without its row, the log still has it, and the receiver is not affected. */
async function record(
  attempted: Attempted,
  step: NextStep,
  successor: Successor | undefined,
  { webhooks, log }: DeliveryPorts,
): Promise<Recorded> {
  const { delivery, webhook, attemptedAt, endedAt, result, trial } = attempted;
  const recorded = await webhooks
    .record({
      ...rowOf(delivery),
      ...outcomeOf(attempted, step),
      ...(successor && { successor }),
      attemptedAt,
      ...(step.outcome !== 'disabled' && {
        health: {
          url: webhook.url,
          unhealthy: step.outcome !== 'delivered' || endedAt - attemptedAt > slowAfter,
          answered: result.answered,
          silent: isSilent(result),
          askedMs: pauseAsked(result, endedAt),
          ...(trial && { trial }),
        },
      }),
    })
    .catch(({ name, message }: Error) => fail({ kind: 'internal_error', reason: `${name}: ${message}` }));
  if (recorded.ok) return recorded.value;
  const logCode = logCodes.webhookAttemptNotRecorded;
  const { kind: cause, ...why } = recorded.error;
  log.error('Webhook attempt not recorded', { logCode, ...idsOf(delivery), cause, ...why });
  return { isWritten: true };
}

const rowOf = (delivery: Delivery) => ({
  ...idsOf(delivery),
  ...(delivery.copy !== undefined && { copy: delivery.copy }),
  series: delivery.series ?? '',
  number: numberOf(delivery),
  attempt: attemptOf(delivery),
});

function tellPause(
  { webhookId }: Delivery,
  { reason, until, length }: Pause,
  { log, metrics }: DeliveryPorts,
): void {
  const line = { logCode: logCodes.webhookPaused, webhookId, reason, until: new Date(until).toISOString() };
  log.warn('Webhook paused', { ...line, seconds: length / 1_000 });
  metrics.addMetric('Paused', MetricUnit.Count, 1);
}

const outcomeOf = ({ attemptedAt, endedAt, result }: Attempted, { outcome }: NextStep) => ({
  durationMs: endedAt - attemptedAt,
  ...(result.answered && { status: result.status }),
  outcome,
  reason: reasonOf(result),
});

const idsOf = ({ eventId, webhookId, deliveryId }: Delivery) => ({ eventId, webhookId, deliveryId });

const isProbe = ({ webhookId }: Delivery) => webhookId === probe.webhookId;

const attemptOf = ({ attempt = 1 }: Delivery) => attempt;

/**
 * Sends the event `webhook.disabled` after a 410. The function that disabled it may have been killed before, so that every
 * attempt that finds a 410, and every message that comes back, sends the same event again.
 */
async function announceDisabling(
  disabling: DisabledWebhook & Partial<Disabled>,
  { events, log, metrics }: DeliveryPorts,
): Promise<Result<null, QueueUnavailable>> {
  const { webhookId, organizationId, reason, isNew } = disabling;
  if (reason !== 'gone') return ok(null);
  const { id: eventId, text } = disabledEvent(disabling);
  const sent = await events.send([{ body: text, group: organizationId }]);
  if (!isNew) return sent;
  const unsent = sent.ok ? {} : { cause: sent.error.kind, notSent: sent.error.reason };
  const line = { logCode: logCodes.webhookDisabled, webhookId, organizationId, reason, eventId, ...unsent };
  log.warn('Webhook disabled', line);
  metrics.addMetric('Disabled', MetricUnit.Count, 1);
  return sent;
}

/** Both versions sign for 24 h after a rotation. */
async function findSigningSecrets(
  webhookId: string,
  { secretVersion, rotatedAt }: StoredWebhook,
  { secrets, now }: DeliveryPorts,
): Promise<Result<readonly Uint8Array[], SecretUnavailable>> {
  const overlaps = rotatedAt !== undefined && now() < rotatedAt + rotationOverlap;
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
