import type { AttemptReason, Delivery } from '../../domain/delivery';
import type { DisabledWebhook } from '../../domain/event';
import type { MetricName } from '../../domain/metrics';
import type { Result } from '../../domain/result';
import type { DatabaseUnavailable } from '../database/database';
import type { Log } from '../shared/log';
import type { Queue } from '../shared/queue';
import type { WebhookSecrets } from '../shared/webhook-secrets';
import type { Health, HealthResult, Pause, Trial } from './health';
import type { AttemptResult, NextStep } from './retry-schedule';

export interface StoredWebhook {
  readonly url: string;
  readonly enabled: boolean;
  /** Why and when it was disabled; only if it is. */
  readonly disabling?: DisabledWebhook;
  /** Its last attempts were slow or failed: its deliveries take the retry queue. */
  readonly unhealthy: boolean;
  readonly secretVersion: number;
  /** When that version replaced the previous one: milliseconds since 1970. */
  readonly rotatedAt?: number;
  readonly pause?: Pause;
}

export interface Successor {
  /** Its number in the schedule. */
  readonly attempt: number;
  /** Milliseconds since 1970. */
  readonly notBefore: number;
}

export interface RecordedAttempt {
  readonly number: number;
  /** Identifies the message that caused the attempt. */
  readonly copy?: string;
  /** None after a final outcome. */
  readonly successor?: Successor;
}

/** What the database has on the attempts of a delivery. Times are in milliseconds since 1970. */
export interface SeriesState {
  /** The series' final attempt, otherwise that with the highest number; none before the first. */
  readonly last?: RecordedAttempt;
  /** When the series made its first attempt. */
  readonly begunAt?: number;
  /** Of the delivery's other series: which began last, and when one was last delivered. */
  readonly other?: { readonly series: string; readonly begunAt: number; readonly deliveredAt?: number };
}

/** What the database has on a delivery and its webhook. */
export interface DeliveryState extends SeriesState {
  /** None if it was removed. */
  readonly webhook?: StoredWebhook;
  /** Its webhook's pause is over, and this delivery is the trial. */
  readonly trial?: Trial;
}

export interface LookedAt
  extends Pick<Delivery, 'webhookId' | 'deliveryId' | 'series' | 'number' | 'attempt' | 'copy'> {
  /** It may be the trial after a pause. @default false */
  readonly mayTry?: boolean;
}

export interface Recorded {
  /** False if another copy has recorded this number. */
  readonly isWritten: boolean;
  /** If the attempt pauses its webhook. */
  readonly pause?: Pause;
}

export interface Webhooks {
  /** Of the deliveries that look together at a webhook whose pause is over, at most one is the trial. */
  find(delivery: LookedAt): Promise<Result<DeliveryState, DatabaseUnavailable>>;
  /** Gives a claim back that leads to no request: the next delivery that looks may be the trial. */
  release(webhookId: string, trial: Trial): Promise<Result<unknown, DatabaseUnavailable>>;
  /** Stores the attempt, and updates the webhook's health and pause. A success replaces a failure. */
  record(attempt: AttemptRow): Promise<Result<Recorded, DatabaseUnavailable>>;
  /** Disables it, or leaves it disabled. `undefined` if it was removed, or has another URL. */
  disable(
    webhookId: string,
    url: string,
    reason: string,
  ): Promise<Result<Disabled | undefined, DatabaseUnavailable>>;
}

export interface Disabled extends DisabledWebhook {
  /** False if it was disabled before. */
  readonly isNew: boolean;
}

/** Keeps attempts, and the health of webhooks. It counts, and decides nothing: `record-attempts.ts`. */
export interface AttemptStore {
  /** Stores attempts: of one number the first, unless a later one was delivered. Counts their results in `failures`. */
  write(attempts: readonly AttemptRow[]): Promise<Result<readonly Written[], DatabaseUnavailable>>;
  /** Sets each health whose webhook still has the URL and pause that were read, and no fewer failures. @returns their ids */
  set(changes: readonly HealthChange[]): Promise<Result<readonly string[], DatabaseUnavailable>>;
}

export interface Written {
  /** False if another copy has recorded this number. */
  readonly isWritten: boolean;
  /** None if its webhook was removed or has another URL, or if the result was not counted: a later one is. */
  readonly health?: Health;
  /** The store's time: milliseconds since 1970. */
  readonly now: number;
}

export interface HealthChange {
  readonly webhookId: string;
  readonly url: string;
  readonly from: Health;
  readonly to: Health;
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
  /** Empty for the first delivery. */
  readonly series: string;
  readonly number: number;
  readonly copy?: string;
  /** Its number in the schedule. */
  readonly attempt: number;
  readonly successor?: Successor;
  /** What it means for its webhook; none without a request, or after a 410. */
  readonly health?: HealthResult;
}

export interface Receivers {
  /** Sends one `POST`, within the limits of time and size; never throws because of a receiver. */
  post(request: WebhookRequest): Promise<AttemptResult>;
}

export interface WebhookRequest {
  readonly webhookId: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Milliseconds after which it ends as `slow`, less than the other limits. @default - `timeouts.response`, as `timeout` */
  readonly limit?: number;
}

export interface DeliveryPorts {
  readonly webhooks: Webhooks;
  readonly secrets: WebhookSecrets;
  readonly receivers: Receivers;
  readonly events: Pick<Queue, 'send'>;
  readonly log: Log;
  readonly metrics: {
    addMetric(name: MetricName<'deliver-webhook'>, unit: 'Count' | 'Milliseconds', value: number): unknown;
  };
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Returns a number from 0 to 1. */
  readonly random: () => number;
  readonly newToken: () => string;
  /** Milliseconds from the first attempt to each. */
  readonly schedule: readonly number[];
}
