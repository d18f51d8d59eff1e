import type { Metrics } from '@aws-lambda-powertools/metrics';
import type { SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { type Delivery, retrySchedule } from '../../../domain/delivery';
import { fail, ok, type Result } from '../../../domain/result';
import type { DatabaseUnavailable } from '../../../lambda/database/database';
import { createHandler as createDelivering } from '../../../lambda/deliver-webhook/handler';
import type { WebhookRequest, Webhooks } from '../../../lambda/deliver-webhook/ports';
import { createRecording } from '../../../lambda/deliver-webhook/record-attempts';
import { type AttemptResult, unanswered } from '../../../lambda/deliver-webhook/retry-schedule';
import { handOut } from '../../../lambda/deliver-webhook/series';
import type { AcceptedEvent, Subscriptions } from '../../../lambda/fan-out-event/fan-out-event';
import { createHandler as createFanningOut } from '../../../lambda/fan-out-event/handler';
import { batchRequests } from '../../../lambda/shared/batch-requests';
import { createQueues } from '../../../lambda/shared/queue';
import { longestCall, timeouts } from '../../../lambda/shared/timeouts';
import type { WebhookSecrets } from '../../../lambda/shared/webhook-secrets';
import type { Clock } from './clock';
import type { SimulatedDatabase } from './database';
import type { Faults } from './faults';
import type { Invariants, Message } from './invariants';
import type { Service } from './options';
import { type Answer, type ReceiverKind, receiverKinds } from './receivers';
import { createClient, type SimulatedQueue, subjectOf } from './sqs';
import { type Request, secretOf } from './webhook-book';

/** What functions and operators use of the world. */
export interface World {
  readonly clock: Clock;
  readonly faults: Faults;
  readonly database: SimulatedDatabase;
  readonly invariants: Invariants;
  readonly queues: Readonly<Record<'events' | 'deliveries' | 'retries', SimulatedQueue>>;
  /** The receiver at a URL. */
  kindOf(url: string): ReceiverKind;
}

type Identified = Partial<Pick<Delivery, 'deliveryId' | 'eventId' | 'webhookId'> & AcceptedEvent>;
const idOf = ({ deliveryId, event, eventId, webhookId }: Identified) =>
  deliveryId ?? event?.id ?? eventId ?? webhookId ?? '';

/** A promise of each call's own: one that all wait for would keep every world in memory. */
const never = () => new Promise<never>(() => undefined);
const quiet = () => undefined;
const longest = { database: longestCall, keys: timeouts.keys, queues: timeouts.queue };
const refusals = { database: 'database refused', keys: 'key refused', queues: 'send refused' } as const;
const usual = { database: 3, keys: 0, queues: 5 };

/** An instance of a function: the real handler over ports of the world, until it is killed at one of their calls. */
export class Instance {
  readonly death = new AbortController();
  readonly killed = new Promise<'killed'>((resolve) => {
    this.death.signal.onabort = () => resolve('killed');
  });
  private messages: readonly Message[] = [];
  /** The deliveries or events of its messages. */
  private batch: readonly { readonly messageId: string; readonly subject: string }[] = [];
  private draws = 0;
  private readonly handler: (event: SQSEvent) => Promise<SQSBatchResponse>;

  /** @param id of this instance: two of them draw different tokens */
  constructor(
    private readonly world: World,
    private readonly id: number,
    consumed: keyof World['queues'],
  ) {
    const { clock, invariants } = world;
    const refused = () => {
      throw new Error('TimeoutError');
    };
    const client = createClient(Object.values(world.queues), (place, subjects, work) =>
      this.ask('queues', place, subjects, work, refused),
    );
    const timeout = (milliseconds: number) => {
      const controller = new AbortController();
      clock.after(milliseconds, () => controller.abort() ?? false);
      return controller.signal;
    };
    const queue = createQueues(() => client, timeout);
    const { events, deliveries, retries } = world.queues;
    const error = (message: unknown, ...extra: unknown[]) =>
      invariants.tell('log', `${message} ${JSON.stringify(extra)}`);
    const common = {
      events: queue(events.url),
      // There is none: a message that is refused is left at the end.
      deadLetters: queue('none'),
      log: { info: quiet, warn: quiet, error },
      random: () => this.random(),
    };
    const queues = { delivery: queue(deliveries.url), retry: queue(retries.url) };
    const newToken = () => this.random().toString(36).slice(2);
    const metrics = { addMetric: quiet, hasStoredMetrics: () => false } as unknown as Metrics;
    const ports = {
      ...common,
      webhooks: this.webhooks(),
      secrets: {
        secret: (webhookId: string, version: number) =>
          this.ask<Awaited<ReturnType<WebhookSecrets['secret']>>>(
            'keys',
            'derive secret',
            [webhookId],
            () => ok(secretOf(webhookId, version)),
            () => fail({ kind: 'secret_unavailable', reason: 'timeout' }),
          ),
      },
      receivers: { post: (request: WebhookRequest) => this.post(request) },
      metrics,
      now: () => clock.now,
      newToken,
      schedule: retrySchedule,
    };
    this.handler =
      consumed === 'events'
        ? createFanningOut({ ...common, ports: { subscriptions: this.subscriptions(), queues, newToken } })
        : createDelivering({ ...common, ports, queues, retryQueueUrl: retries.url, metrics });
  }

  handle(event: SQSEvent): Promise<SQSBatchResponse> {
    this.messages = event.Records.map(({ body }) => JSON.parse(body));
    this.batch = event.Records.map(({ messageId, body }) => ({ messageId, subject: subjectOf(body) }));
    return this.handler(event);
  }

  private random = () =>
    this.world.faults.random(`instance ${this.id} ${this.world.clock.now} ${++this.draws}`);

  private async call<T>(place: string, subjects: readonly string[], work: () => Promise<T>): Promise<T> {
    const { clock, faults, invariants } = this.world;
    const dies = (when: string) => {
      clock.touch();
      if (this.death.signal.aborted) return true;
      const poisonous =
        when === 'before' && place === 'find'
          ? subjects.filter((subject) => faults.happen('poisonous', 'at', [subject]))
          : [];
      const isPoisoned = poisonous.length > 0;
      if (!isPoisoned && !faults.happen('killed', `${when} ${place}`, subjects)) return false;
      this.death.abort();
      const met = isPoisoned ? poisonous : subjects;
      for (const { messageId, subject } of this.batch.filter((each) => !met.includes(each.subject))) {
        invariants.fault(subject);
        // While the queues refuse everything, nothing can separate them.
        if (isPoisoned && !faults.isDown('queues')) invariants.killedAlong(messageId, subject);
      }
      return true;
    };
    if (dies('before')) return never();
    const before = faults.happened.length;
    const value = await work();
    // What shares its instance may wait for it.
    if (faults.happened.length > before) for (const { subject } of this.batch) invariants.excuse(subject);
    return dies('after') ? never() : value;
  }

  /** Calls a port of a service of ours, which may refuse. */
  private ask<T>(
    service: Service,
    place: string,
    subjects: readonly string[],
    work: () => T | Promise<T>,
    refused: () => T,
  ): Promise<T> {
    const { clock, faults, invariants } = this.world;
    return this.call(place, subjects, async () => {
      const isSlow = faults.happen('slow', place, subjects);
      if (isSlow || usual[service] > 0) await clock.wait(isSlow ? longest[service] - 100 : usual[service]);
      const kind = place === 'hide' ? 'hide refused' : refusals[service];
      if (!faults.isDown(service)) return faults.happen(kind, place, subjects) ? refused() : work();
      // Without its row, an attempt may be made again.
      if (place === 'record') for (const subject of subjects) invariants.fault(subject);
      for (const { subject } of this.batch) invariants.excuse(subject);
      return refused();
    });
  }

  /** A statement, which affects the deliveries, events or webhooks that are its input. */
  private statement<Input, More extends unknown[], T>(
    place: string,
    work: (input: Input, ...more: More) => T | Promise<T>,
  ) {
    const { clock, faults } = this.world;
    const lost = () => fail<DatabaseUnavailable>({ kind: 'database_unavailable', reason: 'timeout' });
    return (input: Input, ...more: More): Promise<Result<T, DatabaseUnavailable>> => {
      const subjects = [input]
        .flat()
        .map((each) => (typeof each === 'string' ? each : idOf(each as Identified)));
      const answer = async () => {
        const value = ok(await work(input, ...more));
        if (!faults.happen('database answer lost', place, subjects)) return value;
        await clock.wait(7_000);
        return lost();
      };
      return this.ask<Result<T, DatabaseUnavailable>>('database', place, subjects, answer, lost);
    };
  }

  /** A statement for several items at once. */
  private statements<Item, T>(place: string, work: (items: readonly Item[]) => readonly T[]) {
    const statement = this.statement(place, work);
    return batchRequests<Item, Result<T, DatabaseUnavailable>>(async (items) => {
      const values = await statement(items);
      return values.ok ? values.value.map(ok) : items.map(() => values);
    });
  }

  private subscriptions(): Subscriptions {
    const { database } = this.world;
    return {
      findSubscribers: this.statements('find subscribers', (all) =>
        all.map((each) => database.findSubscribers(each)),
      ),
      findStoredEvent: this.statement('find event', database.findStoredEvent),
      findDisabledWebhook: this.statement('find disabling', database.findDisabledWebhook),
    };
  }

  private webhooks(): Webhooks {
    const { clock, database, invariants } = this.world;
    // Mostly a few milliseconds: batches that end together meet.
    const hold = () => clock.wait(300 * this.random() ** 6);
    return {
      find: this.statements('find', (deliveries) => handOut(database.find(deliveries))),
      release: this.statement('release', database.release),
      record: createRecording({
        write: this.statement('record', (rows) => database.write(rows, hold)),
        set: this.statement('set health', (rows) => database.set(rows, hold)),
      }),
      disable: this.statement('disable', (id, url, reason) => {
        const disabled = database.disable(id, url, reason);
        if (disabled?.isNew) invariants.disabled(disabled);
        return disabled;
      }),
    };
  }

  private async post({ webhookId, url, headers, body, limit }: WebhookRequest): Promise<AttemptResult> {
    const { clock, faults, kindOf, invariants } = this.world;
    const deliveryId = headers['webhook-id'] ?? '';
    return this.call('request', [deliveryId], async () => {
      const beganAt = clock.now;
      const receiver: (random: number, now: number) => Answer = receiverKinds[kindOf(url)];
      const answer = receiver(faults.random(`answer to ${deliveryId} at ${beganAt}`), beganAt);
      const busyUntil = answer.after < timeouts.response ? beganAt + answer.after : beganAt;
      const made: Request = { deliveryId, url, body, headers, beganAt, busyUntil };
      invariants.tell(deliveryId, `request to ${webhookId} at ${url}`);
      const chain = invariants.request(made, this.messages);
      await clock.wait(Math.min(answer.after, limit ?? timeouts.response));
      const result = resultOf(answer, limit);
      if (this.death.signal.aborted) return result;
      invariants.tell(deliveryId, `answer ${JSON.stringify(result)}`);
      invariants.answered(chain, made, result);
      return result;
    });
  }
}

function resultOf({ after, status, retryAfter }: Answer, limit?: number): AttemptResult {
  if (after > (limit ?? timeouts.response)) return unanswered(limit === undefined ? 'timeout' : 'slow');
  if (status === undefined) return unanswered('connection_closed');
  return { answered: true, status, ...(retryAfter && { retryAfter }) };
}
