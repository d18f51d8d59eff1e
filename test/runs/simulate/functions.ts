import type { Metrics } from '@aws-lambda-powertools/metrics';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { type Delivery, parseDelivery, retrySchedule } from '../../../domain/delivery';
import type { Redelivery } from '../../../domain/event';
import { fail, ok, type Result } from '../../../domain/result';
import type { DatabaseUnavailable } from '../../../lambda/database/database';
import { createHandler as createDelivering } from '../../../lambda/deliver-webhook/handler';
import type { Trial } from '../../../lambda/deliver-webhook/health';
import type { LookedAt, WebhookRequest } from '../../../lambda/deliver-webhook/ports';
import { createRecording } from '../../../lambda/deliver-webhook/record-attempts';
import type { AttemptResult } from '../../../lambda/deliver-webhook/retry-schedule';
import { handOut } from '../../../lambda/deliver-webhook/series';
import type { AcceptedEvent } from '../../../lambda/fan-out-event/fan-out-event';
import { createHandler as createFanningOut } from '../../../lambda/fan-out-event/handler';
import { batchRequests } from '../../../lambda/shared/batch-requests';
import { createQueues } from '../../../lambda/shared/queue';
import { longestCall, timeouts } from '../../../lambda/shared/timeouts';
import type { Clock } from './clock';
import type { SimulatedDatabase } from './database';
import type { Faults } from './faults';
import type { Invariants } from './invariants';
import { type Answer, type ReceiverKind, receiverKinds } from './receivers';
import { createClient, type SimulatedQueue } from './sqs';
import { type Request, secretOf } from './webhook-book';

/** What functions use of the world. */
export interface Surroundings {
  readonly clock: Clock;
  readonly random: (text: string) => number;
  readonly faults: Faults;
  readonly database: SimulatedDatabase;
  readonly invariants: Invariants;
  readonly queues: Readonly<Record<'events' | 'deliveries' | 'retries', SimulatedQueue>>;
  /** The receiver at a URL. */
  kindOf(url: string): ReceiverKind;
  /** Whether an outage of ours is under way. */
  isDown(service: 'database' | 'keys' | 'queues'): boolean;
  tell(subject: string, line: string): void;
}

const never = new Promise<never>(() => undefined);

/** An instance of a function: the real handler over ports of the world, until it is killed at one of their calls. */
abstract class Instance {
  isDead = false;
  die = (): void => undefined;
  readonly killed = new Promise<'killed'>((resolve) => {
    this.die = () => {
      this.isDead = true;
      resolve('killed');
    };
  });
  /** The deliveries or events of its messages. */
  batch: readonly string[] = [];
  abstract handle(event: SQSEvent): Promise<SQSBatchResponse>;

  /** @param id of this instance: two of them draw different tokens */
  constructor(
    protected readonly world: Surroundings,
    private readonly id: number,
  ) {}

  /** Calls a port. */
  protected async call<T>(place: string, subjects: readonly string[], work: () => Promise<T>): Promise<T> {
    const { clock, faults, invariants } = this.world;
    const others = this.batch.filter((subject) => !subjects.includes(subject));
    const dies = (when: string) => {
      clock.touch();
      const isPoisonous = when === 'before' && place === 'find' && faults.happen('poisonous', 'at', subjects);
      if (!this.isDead && (isPoisonous || faults.happen('killed', `${when} ${place}`, subjects))) {
        this.die();
        for (const subject of others) invariants.fault(subject);
        if (isPoisonous) for (const subject of others) invariants.killedAlong(subject);
      }
      return this.isDead;
    };
    if (dies('before')) return never;
    const before = faults.happened.length;
    const value = await work();
    // What shares its instance may wait for it.
    if (faults.happened.length > before) for (const subject of this.batch) invariants.excuse(subject);
    return dies('after') ? never : value;
  }

  /** A call that our own outage refuses. */
  protected refused(place: string, subjects: readonly string[]): void {
    const { invariants } = this.world;
    // Without its row, an attempt may be made again.
    for (const subject of subjects) if (place === 'record') invariants.fault(subject);
    for (const subject of this.batch) invariants.excuse(subject);
  }

  /** Calls the database for several items at once. */
  protected async query<T>(
    place: string,
    subjects: readonly string[],
    work: () => readonly T[],
  ): Promise<Result<T, DatabaseUnavailable>[]> {
    const values = await this.execute(place, subjects, async () => work());
    return values.ok ? values.value.map(ok) : subjects.map(() => values);
  }

  protected execute<T>(place: string, subjects: readonly string[], work: () => Promise<T>) {
    const { clock, faults, isDown } = this.world;
    const lost = fail({ kind: 'database_unavailable', reason: 'timeout' } as const);
    return this.call<Result<T, DatabaseUnavailable>>(place, subjects, async () => {
      await clock.wait(faults.happen('slow', place, subjects) ? longestCall - 100 : 3);
      if (isDown('database')) this.refused(place, subjects);
      if (isDown('database') || faults.happen('database refused', place, subjects)) return lost;
      const value = ok(await work());
      if (!faults.happen('database answer lost', place, subjects)) return value;
      await clock.wait(7_000);
      return lost;
    });
  }

  protected async queryOne<T>(place: string, subject: string, work: () => T) {
    const [value] = await this.query(place, [subject], () => [work()]);
    return value as Result<T, DatabaseUnavailable>;
  }

  /** What both functions depend on. */
  protected common() {
    const { clock, random, queues, tell } = this.world;
    const client = createClient(Object.values(queues), async (place, subjects, work) => {
      if (this.world.isDown('queues')) this.refused(place, subjects);
      return this.call(place, subjects, work);
    });
    const timeout = (milliseconds: number) => {
      const over = clock.now + milliseconds;
      return {
        get aborted() {
          return clock.now >= over;
        },
      } as AbortSignal;
    };
    const queue = createQueues(() => client, timeout);
    let draws = 0;
    const draw = () => random(`instance ${this.id} ${clock.now} ${++draws}`);
    const quiet = () => undefined;
    const error = (message: unknown, ...extra: unknown[]) =>
      tell('log', `${message} ${JSON.stringify(extra)}`);
    return {
      queues: { delivery: queue(queues.deliveries.url), retry: queue(queues.retries.url) },
      events: queue(queues.events.url),
      // There is none: a message that is refused is left at the end.
      deadLetters: queue('none'),
      log: { info: quiet, warn: quiet, error },
      random: draw,
      newToken: () => draw().toString(36).slice(2),
    };
  }
}

export class FanOutEvent extends Instance {
  readonly handle = (() => {
    const { queues, newToken, ...common } = this.common();
    const { database } = this.world;
    const subscriptions = {
      findSubscribers: batchRequests((accepted: readonly AcceptedEvent[]) => {
        const ids = accepted.map(({ event }) => event.id);
        return this.query('find subscribers', ids, () =>
          accepted.map((each) => database.findSubscribers(each)),
        );
      }),
      findStoredEvent: (redelivery: Redelivery) =>
        this.queryOne('find event', redelivery.eventId, () => database.findStoredEvent(redelivery)),
      findDisabledWebhook: (id: string) =>
        this.queryOne('find disabling', id, () => database.findDisabledWebhook(id)),
    };
    return createFanningOut({ ...common, ports: { subscriptions, queues, newToken } });
  })();
}

export class DeliverWebhook extends Instance {
  /** The deliveries of the batch's messages. */
  private candidates: Pick<Required<Delivery>, 'deliveryId' | 'webhookId' | 'series'>[] = [];
  private readonly delivering = (() => {
    const { queues, deadLetters, ...common } = this.common();
    const { clock, database, invariants } = this.world;
    // Mostly a few milliseconds: batches that end together meet.
    const hold = () => clock.wait(300 * common.random() ** 6);
    const metrics = { addMetric: () => undefined, hasStoredMetrics: () => false } as unknown as Metrics;
    const webhooks = {
      find: batchRequests((deliveries: readonly LookedAt[]) => {
        const ids = deliveries.map(({ deliveryId }) => deliveryId);
        return this.query('find', ids, () => handOut(database.find(deliveries)));
      }),
      release: (id: string, trial: Trial) => this.queryOne('release', id, () => database.release(id, trial)),
      record: createRecording({
        write: (attempts) => {
          const ids = attempts.map(({ deliveryId }) => deliveryId);
          const rows = attempts.flatMap(({ webhookId, health }) =>
            health ? [{ webhookId, waits: health.answered || !health.silent }] : [],
          );
          return this.execute('record', ids, () =>
            database.locking(rows, hold, (isSkipped) => database.write(attempts, isSkipped)),
          );
        },
        set: (changes) => {
          const ids = changes.map(({ webhookId }) => webhookId);
          const rows = ids.map((webhookId) => ({ webhookId, waits: true }));
          return this.execute('set health', ids, () =>
            database.locking(rows, hold, () => database.set(changes)),
          );
        },
      }),
      disable: (id: string, url: string, reason: string) =>
        this.queryOne('disable', id, () => {
          const disabled = database.disable(id, url, reason);
          if (disabled?.isNew) invariants.disabled(id, reason);
          return disabled;
        }),
    };
    const own = {
      secrets: { secret: (id: string, version: number) => this.deriveSecret(id, version) },
      receivers: { post: (request: WebhookRequest) => this.post(request) },
    };
    return createDelivering({
      ports: { ...common, ...own, webhooks, metrics, now: () => clock.now, schedule: retrySchedule },
      retryQueueUrl: this.world.queues.retries.url,
      ...{ queues, deadLetters, metrics },
    });
  })();

  handle(event: SQSEvent): Promise<SQSBatchResponse> {
    this.candidates = event.Records.flatMap(({ body }) => {
      const delivery = parseDelivery(body);
      return delivery.ok ? [{ series: '', ...delivery.value }] : [];
    });
    return this.delivering(event);
  }

  private deriveSecret(webhookId: string, version: number) {
    const { clock, faults, isDown } = this.world;
    const [place, subjects] = ['derive secret', [webhookId]] as const;
    return this.call(place, subjects, async () => {
      if (faults.happen('slow', place, subjects)) await clock.wait(timeouts.keys - 100);
      if (isDown('keys')) this.refused(place, subjects);
      return isDown('keys') || faults.happen('key refused', place, subjects)
        ? fail({ kind: 'secret_unavailable', reason: 'timeout' } as const)
        : ok(secretOf(webhookId, version));
    });
  }

  private async post({ webhookId, url, headers, body, limit }: WebhookRequest): Promise<AttemptResult> {
    const { clock, random, kindOf, invariants, tell } = this.world;
    const deliveryId = headers['webhook-id'] ?? '';
    return this.call('request', [deliveryId], async () => {
      const beganAt = clock.now;
      const receiver: (random: number, now: number) => Answer = receiverKinds[kindOf(url)];
      const answer = receiver(random(`answer to ${deliveryId} at ${beganAt}`), beganAt);
      const busyUntil = answer.after < timeouts.response ? beganAt + answer.after : beganAt;
      const made: Request = { deliveryId, url, body, headers, beganAt, busyUntil };
      tell(deliveryId, `request to ${webhookId} at ${url}`);
      const chain = invariants.request(made, this.candidates);
      const result = await this.wait(answer, limit);
      if (this.isDead) return result;
      tell(
        deliveryId,
        `answer ${result.answered ? result.status : result.reason}${answer.retryAfter ? `, after ${answer.retryAfter}` : ''}`,
      );
      invariants.answered(chain, made, result);
      return result;
    });
  }

  private async wait({ after, status, retryAfter }: Answer, limit?: number): Promise<AttemptResult> {
    const allowed = limit ?? timeouts.response;
    await this.world.clock.wait(Math.min(after, allowed));
    if (after > allowed) return { answered: false, reason: limit === undefined ? 'timeout' : 'slow' };
    if (status === undefined) return { answered: false, reason: 'connection_closed' };
    return { answered: true, status, ...(retryAfter && { retryAfter }) };
  }
}
