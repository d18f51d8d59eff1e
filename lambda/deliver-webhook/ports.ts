import type { AttemptReason, Delivery, PauseReason } from '../../domain/delivery';
import type { DisabledWebhook } from '../../domain/event';
import type { MetricName } from '../../domain/metrics';
import type { Result } from '../../domain/result';
import type { DatabaseUnavailable } from '../database/database';
import type { Log } from '../shared/log';
import type { Queue } from '../shared/queue';
import type { WebhookSecrets } from '../shared/webhook-secrets';
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

/** While a webhook is paused, its deliveries wait without requests. Then one is the trial. */
export interface Pause {
  readonly reason: PauseReason;
  /** Milliseconds since 1970. */
  readonly until: number;
  /** Milliseconds. */
  readonly length: number;
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

export interface Known {
  /** None if it was removed. */
  readonly webhook?: StoredWebhook;
  /** The series' final attempt, otherwise that with the highest number; none before the first. */
  readonly last?: RecordedAttempt;
  /** Its webhook's pause is over, and this delivery is the trial. */
  readonly isTrial?: boolean;
}

export interface Recorded {
  /** False if another copy has recorded this number. */
  readonly isWritten: boolean;
  /** If the attempt pauses its webhook. */
  readonly pause?: Pause;
}

export interface Webhooks {
  /** @param delivery `mayTry`: it may be the trial after a pause, which is claimed for it */
  find(
    delivery: Pick<Delivery, 'webhookId' | 'deliveryId' | 'series'> & { readonly mayTry?: boolean },
  ): Promise<Result<Known, DatabaseUnavailable>>;
  /** Stores the attempt, and updates the webhook's health and pause. A success replaces a failure. */
  record(attempt: AttemptRow): Promise<Result<Recorded, DatabaseUnavailable>>;
  /** Disables it, unless its URL has changed since. `undefined` if already disabled, or changed. */
  disable(
    webhookId: string,
    url: string,
    reason: string,
  ): Promise<Result<DisabledWebhook | undefined, DatabaseUnavailable>>;
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
  /** What it means for its webhook; none without a request. */
  readonly health?: {
    readonly unhealthy: boolean;
    readonly answered: boolean;
    /** The receiver did not answer in time, or was not reached. */
    readonly silent: boolean;
    readonly isTrial: boolean;
    /** Milliseconds of a pause that the receiver asks for. */
    readonly askedMs: number;
  };
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
  /** Milliseconds after which it ends as `slow`. @default - `timeouts.response`, as `timeout` */
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
