import type { Metrics } from '@aws-lambda-powertools/metrics';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { retrySchedule } from '../../../domain/delivery';
import { fail, ok, type Result } from '../../../domain/result';
import type { DatabaseUnavailable } from '../../../lambda/database/database';
import { createHandler as createDelivering } from '../../../lambda/deliver-webhook/handler';
import type { LookedAt, WebhookRequest, Webhooks } from '../../../lambda/deliver-webhook/ports';
import { createRecording } from '../../../lambda/deliver-webhook/record-attempts';
import type { AttemptResult } from '../../../lambda/deliver-webhook/retry-schedule';
import { handOut } from '../../../lambda/deliver-webhook/series';
import type { AcceptedEvent, Subscriptions } from '../../../lambda/fan-out-event/fan-out-event';
import { createHandler as createFanningOut } from '../../../lambda/fan-out-event/handler';
import { batchRequests } from '../../../lambda/shared/batch-requests';
import { createQueues } from '../../../lambda/shared/queue';
import { longestCall, timeouts } from '../../../lambda/shared/timeouts';
import type { Clock } from './clock';
import type { SimulatedDatabase } from './database';
import type { FaultKind, Faults } from './faults';
import type { Invariants } from './invariants';
import { type Answer, type ReceiverKind, receiverKinds } from './receivers';
import { createClient, type SimulatedQueue, subjectOf } from './sqs';
import { type Request, secretOf } from './webhook-book';

export type QueueName = 'events' | 'deliveries' | 'retries';

/** What functions and operators use of the world. */
export interface Surroundings {
  readonly clock: Clock;
  readonly random: (text: string) => number;
  readonly faults: Faults;
  readonly database: SimulatedDatabase;
  readonly invariants: Invariants;
  readonly queues: Readonly<Record<QueueName, SimulatedQueue>>;
  /** The receiver at a URL. */
  kindOf(url: string): ReceiverKind;
  /** Whether an outage of ours is under way. */
  isDown(service: Service): boolean;
  tell(subject: string, line: string): void;
}

type Service = 'database' | 'keys' | 'queues';

const never = new Promise<never>(() => undefined);
const quiet = () => undefined;

/** An instance of a function: the real handler over ports of the world, until it is killed at one of their calls. */
export class Instance {
  isDead = false;
  die = (): void => undefined;
  readonly killed = new Promise<'killed'>((resolve) => {
    this.die = () => {
      this.isDead = true;
      resolve('killed');
    };
  });
  /** Its messages, and their deliveries or events. */
  private messages: readonly { readonly deliveryId: string; readonly series?: string }[] = [];
  private batch: readonly string[] = [];
  private draws = 0;
  private readonly handler: (event: SQSEvent) => Promise<SQSBatchResponse>;

  /** @param id of this instance: two of them draw different tokens */
  constructor(
    private readonly world: Surroundings,
    private readonly id: number,
    consumed: QueueName,
  ) {
    const client = createClient(Object.values(world.queues), (place, subjects, work) =>
      this.call(place, subjects, async () => {
        const kind = place === 'hide' ? 'hide refused' : 'send refused';
        await world.clock.wait(this.isSlow(place, subjects) ? timeouts.queue - 100 : 5);
        if (this.isRefused('queues', kind, place, subjects)) throw new Error('TimeoutError');
        return work();
      }),
    );
    const timeout = (milliseconds: number) => {
      const over = world.clock.now + milliseconds;
      return {
        get aborted() {
          return world.clock.now >= over;
        },
      } as AbortSignal;
    };
    const queue = createQueues(() => client, timeout);
    const { events, deliveries, retries } = world.queues;
    const error = (message: unknown, ...extra: unknown[]) =>
      world.tell('log', `${message} ${JSON.stringify(extra)}`);
    const common = {
      events: queue(events.url),
      // There is none: a message that is refused is left at the end.
      deadLetters: queue('none'),
      log: { info: quiet, warn: quiet, error },
      random: () => this.random(),
    };
    const queues = { delivery: queue(deliveries.url), retry: queue(retries.url) };
    const newToken = () => this.random().toString(36).slice(2);
    if (consumed === 'events') {
      const ports = { subscriptions: this.subscriptions(), queues, newToken };
      this.handler = createFanningOut({ ...common, ports });
      return;
    }
    const metrics = { addMetric: quiet, hasStoredMetrics: () => false } as unknown as Metrics;
    const ports = {
      ...common,
      webhooks: this.webhooks(),
      secrets: { secret: (id: string, version: number) => this.deriveSecret(id, version) },
      receivers: { post: (request: WebhookRequest) => this.post(request) },
      metrics,
      now: () => world.clock.now,
      newToken,
      schedule: retrySchedule,
    };
    this.handler = createDelivering({ ...common, ports, queues, retryQueueUrl: retries.url, metrics });
  }

  handle(event: SQSEvent): Promise<SQSBatchResponse> {
    this.messages = event.Records.map(({ body }) => JSON.parse(body));
    this.batch = event.Records.map(({ body }) => subjectOf(body));
    return this.handler(event);
  }

  private random = () => this.world.random(`instance ${this.id} ${this.world.clock.now} ${++this.draws}`);

  /** Calls a port. */
  private async call<T>(place: string, subjects: readonly string[], work: () => Promise<T>): Promise<T> {
    const { clock, faults, invariants } = this.world;
    const dies = (when: string) => {
      clock.touch();
      if (this.isDead) return true;
      const poisonous =
        when === 'before' && place === 'find'
          ? subjects.filter((subject) => faults.happen('poisonous', 'at', [subject]))
          : [];
      const isPoisoned = poisonous.length > 0;
      if (!isPoisoned && !faults.happen('killed', `${when} ${place}`, subjects)) return false;
      this.die();
      const met = isPoisoned ? poisonous : subjects;
      for (const subject of this.batch.filter((each) => !met.includes(each))) {
        invariants.fault(subject);
        if (isPoisoned) invariants.killedAlong(subject);
      }
      return true;
    };
    if (dies('before')) return never;
    const before = faults.happened.length;
    const value = await work();
    // What shares its instance may wait for it.
    if (faults.happened.length > before) for (const subject of this.batch) invariants.excuse(subject);
    return dies('after') ? never : value;
  }

  private isSlow = (place: string, subjects: readonly string[]) =>
    this.world.faults.happen('slow', place, subjects);

  private isRefused(service: Service, kind: FaultKind, place: string, subjects: readonly string[]): boolean {
    const { faults, invariants, isDown } = this.world;
    if (!isDown(service)) return faults.happen(kind, place, subjects);
    // Without its row, an attempt may be made again.
    if (place === 'record') for (const subject of subjects) invariants.fault(subject);
    for (const subject of this.batch) invariants.excuse(subject);
    return true;
  }

  private query<T>(place: string, subjects: readonly string[], work: () => T | Promise<T>) {
    const { clock, faults } = this.world;
    const lost = fail({ kind: 'database_unavailable', reason: 'timeout' } as const);
    return this.call<Result<T, DatabaseUnavailable>>(place, subjects, async () => {
      await clock.wait(this.isSlow(place, subjects) ? longestCall - 100 : 3);
      if (this.isRefused('database', 'database refused', place, subjects)) return lost;
      const value = ok(await work());
      if (!faults.happen('database answer lost', place, subjects)) return value;
      await clock.wait(7_000);
      return lost;
    });
  }

  /** A statement for several items at once. */
  private queryAll<Item, T>(
    place: string,
    subjectOf: (item: Item) => string,
    work: (items: readonly Item[]) => readonly T[],
  ) {
    return batchRequests<Item, Result<T, DatabaseUnavailable>>(async (items) => {
      const values = await this.query(place, items.map(subjectOf), () => work(items));
      return values.ok ? values.value.map(ok) : items.map(() => values);
    });
  }

  private subscriptions(): Subscriptions {
    const { database } = this.world;
    return {
      findSubscribers: this.queryAll(
        'find subscribers',
        ({ event }: AcceptedEvent) => event.id,
        (all) => all.map((accepted) => database.findSubscribers(accepted)),
      ),
      findStoredEvent: (redelivery) =>
        this.query('find event', [redelivery.eventId], () => database.findStoredEvent(redelivery)),
      findDisabledWebhook: (id) => this.query('find disabling', [id], () => database.findDisabledWebhook(id)),
    };
  }

  private webhooks(): Webhooks {
    const { clock, database, invariants } = this.world;
    // Mostly a few milliseconds: batches that end together meet.
    const hold = () => clock.wait(300 * this.random() ** 6);
    return {
      find: this.queryAll(
        'find',
        ({ deliveryId }: LookedAt) => deliveryId,
        (deliveries) => handOut(database.find(deliveries)),
      ),
      release: (id, trial) => this.query('release', [id], () => database.release(id, trial)),
      record: createRecording({
        write: (attempts) => {
          const rows = attempts.flatMap(({ webhookId, health }) =>
            health ? [{ webhookId, waits: health.answered || !health.silent }] : [],
          );
          const write = (isSkipped: (id: string) => boolean) => database.write(attempts, isSkipped);
          const ids = attempts.map(({ deliveryId }) => deliveryId);
          return this.query('record', ids, () => database.locking(rows, hold, write));
        },
        set: (changes) => {
          const ids = changes.map(({ webhookId }) => webhookId);
          const rows = ids.map((webhookId) => ({ webhookId, waits: true }));
          const set = () => database.set(changes);
          return this.query('set health', ids, () => database.locking(rows, hold, set));
        },
      }),
      disable: (id, url, reason) =>
        this.query('disable', [id], () => {
          const disabled = database.disable(id, url, reason);
          if (disabled?.isNew) invariants.disabled(id, reason);
          return disabled;
        }),
    };
  }

  private deriveSecret(webhookId: string, version: number) {
    const [place, subjects] = ['derive secret', [webhookId]] as const;
    return this.call(place, subjects, async () => {
      if (this.isSlow(place, subjects)) await this.world.clock.wait(timeouts.keys - 100);
      return this.isRefused('keys', 'key refused', place, subjects)
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
      const chain = invariants.request(made, this.messages);
      const result = await this.wait(answer, limit);
      if (this.isDead) return result;
      tell(deliveryId, `answer ${JSON.stringify(result)}`);
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
