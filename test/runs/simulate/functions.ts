import type { Metrics } from '@aws-lambda-powertools/metrics';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { parseDelivery, retrySchedule } from '../../../domain/delivery';
import type { Redelivery } from '../../../domain/event';
import { fail, ok, type Result } from '../../../domain/result';
import type { DatabaseUnavailable } from '../../../lambda/database/database';
import { createHandler as createDelivering } from '../../../lambda/deliver-webhook/handler';
import type { AttemptRow, WebhookRequest, Webhooks } from '../../../lambda/deliver-webhook/ports';
import { createRecording } from '../../../lambda/deliver-webhook/record-attempts';
import type { AttemptResult } from '../../../lambda/deliver-webhook/retry-schedule';
import type { AcceptedEvent } from '../../../lambda/fan-out-event/fan-out-event';
import { createHandler as createFanningOut } from '../../../lambda/fan-out-event/handler';
import { batchRequests } from '../../../lambda/shared/batch-requests';
import { createQueues } from '../../../lambda/shared/queue';
import { longestCall, timeouts } from '../../../lambda/shared/timeouts';
import type { Clock } from './clock';
import type { SimulatedDatabase } from './database';
import type { Faults } from './faults';
import { type Invariants, type Planned, planOf, type Request } from './invariants';
import { type Answer, type ReceiverKind, receiverKinds } from './receivers';
import { createClient, type SimulatedQueue } from './sqs';

/** What functions use of the world. */
export interface Surroundings {
  readonly clock: Clock;
  readonly random: (text: string) => number;
  readonly faults: Faults;
  readonly database: SimulatedDatabase;
  readonly invariants: Invariants;
  readonly queues: Readonly<Record<'events' | 'deliveries' | 'retries', SimulatedQueue>>;
  kindOf(webhookId: string): ReceiverKind;
  /** Whether an outage of ours is under way. */
  isDown(service: 'database' | 'keys'): boolean;
  tell(subject: string, line: string): void;
}

const never = new Promise<never>(() => undefined);
const secret = ok(new Uint8Array(32));

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

  constructor(protected readonly world: Surroundings) {}

  /** Calls a port. */
  protected async call<T>(place: string, subjects: readonly string[], work: () => Promise<T>): Promise<T> {
    const { clock, faults, invariants } = this.world;
    const dies = (when: string) => {
      clock.touch();
      if (!this.isDead && faults.happen('killed', `${when} ${place}`, subjects)) {
        this.die();
        for (const subject of this.batch) if (!subjects.includes(subject)) invariants.fault(subject);
      }
      return this.isDead;
    };
    if (dies('before')) return never;
    const value = await work();
    return dies('after') ? never : value;
  }

  /** Calls the database for several items at once. */
  protected async query<T>(
    place: string,
    subjects: readonly string[],
    work: () => readonly T[],
  ): Promise<Result<T, DatabaseUnavailable>[]> {
    const values = await this.queryAll(place, subjects, work);
    return values.ok ? values.value.map(ok) : subjects.map(() => values);
  }

  protected queryAll<T>(place: string, subjects: readonly string[], work: () => T) {
    const { clock, faults, isDown } = this.world;
    const lost = fail({ kind: 'database_unavailable', reason: 'timeout' } as const);
    return this.call<Result<T, DatabaseUnavailable>>(place, subjects, async () => {
      await clock.wait(faults.happen('slow', place, subjects) ? longestCall - 100 : 3);
      if (isDown('database') || faults.happen('database refused', place, subjects)) return lost;
      const values = ok(work());
      if (!faults.happen('database answer lost', place, subjects)) return values;
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
    const client = createClient(Object.values(queues), this.call.bind(this) as typeof this.call);
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
    const draw = () => random(`${this.constructor.name} ${clock.now} ${++draws}`);
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
  /** Messages of the batch that have made no request yet. */
  private planned: Planned[] = [];
  /** Requests of the batch to which the answer was 410. */
  readonly gone: Request[] = [];
  private readonly delivering = (() => {
    const { queues, deadLetters, ...common } = this.common();
    const { clock, database, faults, invariants } = this.world;
    const metrics = { addMetric: () => undefined, hasStoredMetrics: () => false } as unknown as Metrics;
    const webhooks = {
      find: batchRequests((deliveries: readonly Parameters<Webhooks['find']>[0][]) => {
        const ids = deliveries.map(({ deliveryId }) => deliveryId);
        return this.query('find', ids, () => deliveries.map((delivery) => database.find(delivery)));
      }),
      record: createRecording({
        write: (rows: readonly AttemptRow[]) => {
          const ids = rows.map(({ deliveryId }) => deliveryId);
          return this.queryAll('record', ids, () => {
            for (const row of rows) if (row.reason === 'paused') invariants.gaveUp(row);
            const isLocked = (id: string) => faults.happen('locked', 'record', [id]);
            return database.write(rows, isLocked);
          });
        },
        set: (changes) => {
          const ids = changes.map(({ webhookId }) => webhookId);
          return this.queryAll('set health', ids, () => database.set(changes));
        },
      }),
      disable: (id: string, url: string, reason: string) =>
        this.queryOne('disable', id, () => database.disable(id, url, reason)),
    };
    const own = {
      secrets: { secret: (id: string) => this.deriveSecret(id) },
      receivers: { post: (request: WebhookRequest) => this.post(request) },
    };
    return createDelivering({
      ports: { ...common, ...own, webhooks, metrics, now: () => clock.now, schedule: retrySchedule },
      retryQueueUrl: this.world.queues.retries.url,
      ...{ queues, deadLetters, metrics },
    });
  })();

  handle(event: SQSEvent): Promise<SQSBatchResponse> {
    this.gone.length = 0;
    this.planned = event.Records.flatMap(({ body }) => {
      const delivery = parseDelivery(body);
      return delivery.ok ? [planOf(delivery.value)] : [];
    });
    return this.delivering(event);
  }

  private deriveSecret(webhookId: string) {
    const { clock, faults, isDown } = this.world;
    const [place, subjects] = ['derive secret', [webhookId]] as const;
    return this.call(place, subjects, async () => {
      if (faults.happen('slow', place, subjects)) await clock.wait(timeouts.keys - 100);
      return isDown('keys') || faults.happen('key refused', place, subjects)
        ? fail({ kind: 'secret_unavailable', reason: 'timeout' } as const)
        : secret;
    });
  }

  private async post({ webhookId, headers, limit }: WebhookRequest): Promise<AttemptResult> {
    const { clock, random, kindOf, invariants, tell } = this.world;
    const deliveryId = headers['webhook-id'] ?? '';
    const planned = this.planned.find((each) => each.deliveryId === deliveryId);
    if (!planned) throw new Error(`A request without a message: ${deliveryId}`);
    this.planned.splice(this.planned.indexOf(planned), 1);
    return this.call('request', [deliveryId], async () => {
      const beganAt = clock.now;
      const kind: (random: number, now: number) => Answer = receiverKinds[kindOf(webhookId)];
      const answer = kind(random(`answer to ${deliveryId} at ${beganAt}`), beganAt);
      const busyUntil = answer.after < timeouts.response ? beganAt + answer.after : beganAt;
      const made = { deliveryId, webhookId, beganAt, busyUntil };
      tell(deliveryId, `request, attempt ${planned.attempt}`);
      invariants.request(planned, made);
      const result = await this.wait(answer, limit);
      if (this.isDead) return result;
      tell(deliveryId, `answer ${result.answered ? result.status : result.reason}`);
      invariants.answered(planned, made, result);
      if (result.answered && result.status === 410) this.gone.push(made);
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
