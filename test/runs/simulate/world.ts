import { writeEvent } from '../../../domain/event';
import * as deliverWebhook from '../../../lambda/deliver-webhook/variables';
import * as fanOutEvent from '../../../lambda/fan-out-event/variables';
import { Clock } from './clock';
import { SimulatedDatabase } from './database';
import { createRandom, type FaultKind, Faults } from './faults';
import { Instance, type QueueName, type Surroundings } from './functions';
import { Invariants, type Violation } from './invariants';
import { createOperators } from './operators';
import type { ReceiverKind } from './receivers';
import { SimulatedQueue, subjectOf } from './sqs';
import { WebhookBook } from './webhook-book';

/** A world, as its seed draws it or a story tells it. */
export interface WorldOptions {
  readonly seed: number;
  readonly days: number;
  readonly organizations: number;
  /** How many each organization has. */
  readonly webhooks: number;
  readonly events: number;
  /** What operators do in each organization. */
  readonly acts: number;
  /** Those of the webhooks, one organization after another. */
  readonly receivers: readonly ReceiverKind[];
  /** All receivers answer well after the days of the world: it ends sooner. */
  readonly recovers: boolean;
  readonly probabilities: Readonly<Partial<Record<FaultKind, number>>>;
  /** Share of the events that their producer sends again at once, that it sends again later, and that an operator redelivers. */
  readonly repeats: number;
  /** Days after which a producer sends an event again, at most. */
  readonly repeatDays: number;
  /** Share of the events that come right after another one. */
  readonly bursts: number;
  /** Share of the webhooks that begin healthy. */
  readonly healthy: number;
  /** Milliseconds by which the database's clock differs from the functions'. */
  readonly skew: number;
  /** When a service of ours refuses everything: hours from the beginning. */
  readonly outages: readonly { readonly service: string; readonly from: number; readonly to: number }[];
}

/** A part of a world, to tell a story with. */
export interface Part {
  /** Exactly these faults happen. */
  readonly faults?: ReadonlySet<string>;
  /** Only these events are sent, and only these acts happen. */
  readonly events?: ReadonlySet<string>;
  /** It ends with its days: what waits then, waits. */
  readonly isCut?: boolean;
}

/** How a world went. */
export interface Outcome {
  readonly violations: readonly Violation[];
  /** Their names. */
  readonly faults: readonly string[];
  /** The ids of those that were sent, and of what operators did. */
  readonly events: readonly string[];
  readonly deliveries: number;
  readonly requests: number;
  /** Milliseconds that invocations took, by queue. */
  readonly busy: Readonly<Record<QueueName, number>>;
  readonly history: readonly string[];
}

const consumers = {
  events: { ...fanOutEvent, concurrency: 10 },
  deliveries: { ...deliverWebhook, concurrency: 20 },
  retries: { ...deliverWebhook, concurrency: 20 },
};
const hour = 3_600_000;
const day = 24 * hour;

/** Runs a world: its days with faults, then without, until nothing is left to do, or until the first violation. */
export async function runWorld(options: WorldOptions, part: Part = {}): Promise<Outcome> {
  const random = createRandom(options.seed);
  const clock = new Clock();
  const [start, end] = [clock.now, clock.now + options.days * day];
  const database = new SimulatedDatabase(() => clock.now + options.skew);
  const invariants = new Invariants(clock);
  const history: string[] = [];
  const tell = (subject: string, line: string) => {
    history.push(`${new Date(clock.now).toISOString().slice(5, 23)} ${subject} ${line}`);
  };
  const faults = new Faults(random, options.probabilities, part.faults, (subject, name) => {
    invariants.fault(subject);
    tell(subject, `FAULT ${name}`);
  });
  const isDown = (service: string) =>
    clock.now < end &&
    options.outages.some(({ service: down, from, to }) => {
      const hours = (clock.now - start) / hour;
      return down === service && hours >= from && hours < to;
    });

  const busy = { events: 0, deliveries: 0, retries: 0 };
  let instances = 0;
  const consumed = (name: QueueName) => {
    const { visibilitySeconds, timeoutSeconds, concurrency } = consumers[name];
    const settings = {
      name,
      visibilityTimeout: 1_000 * visibilitySeconds,
      wake: () => clock.after(10, poll),
      deadLetter: (body: string) => invariants.violated(subjectOf(body), 'on the dead-letter queue'),
      count(body: string, change: 1 | -1) {
        tell(subjectOf(body), `${change > 0 ? 'sent to' : 'gone from'} ${name}`);
        if (name !== 'events') invariants.count(body, change);
      },
      duplicated: (subject: string) => invariants.excuse(subject),
    };
    const queue = new SimulatedQueue(settings, clock, faults);
    const idle: Instance[] = [];
    let running = 0;
    return queue;

    /** Receives batches and invokes the function, as an event source mapping does. */
    function poll(): void {
      while (running < concurrency && queue.visible.length > 0) {
        running++;
        void invoke().finally(() => {
          running--;
          poll();
        });
      }
    }

    async function invoke(): Promise<void> {
      const Records = queue.receive(10);
      for (const { body } of Records) tell(subjectOf(body), `received from ${name}`);
      const instance = idle.pop() ?? new Instance(world, ++instances, name);
      const began = clock.now;
      let isOver = false;
      clock.after(1_000 * timeoutSeconds, () => {
        if (isOver || instance.isDead) return false;
        invariants.violated('', `a batch of ${name} took longer than its function may`);
        return instance.die();
      });
      const handled = await Promise.race([instance.handle({ Records }), instance.killed]);
      isOver = true;
      busy[name] += clock.now - began;
      clock.touch();
      if (handled === 'killed') return;
      const failed = new Set(handled.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      for (const { messageId, receiptHandle } of Records)
        if (!failed.has(messageId)) queue.delete(receiptHandle);
      idle.push(instance);
    }
  };
  const queues = {
    events: consumed('events'),
    deliveries: consumed('deliveries'),
    retries: consumed('retries'),
  };
  /** Each webhook begins at a URL of its own; one that moves leads to another receiver. */
  const kinds = new Map<string, ReceiverKind>();
  const kindOf = (url: string) =>
    options.recovers && clock.now >= end ? 'fast' : (kinds.get(url) ?? 'fast');
  const world: Surroundings = {
    clock,
    random,
    faults,
    database,
    invariants,
    isDown,
    tell,
    queues,
    kindOf,
  };
  const operators = createOperators(world);

  const happened = new Set<string>();
  /** Something that a story may leave out. */
  const plan = (id: string, at: number, run: () => void) => {
    if (!part.events || part.events.has(id))
      clock.after(at, () => {
        happened.add(id);
        run();
      });
  };
  const pick = <Item>(items: readonly Item[], text: string) =>
    items[Math.floor(random(text) * items.length)] as Item;
  for (let number = 0; number < options.organizations; number++) {
    const name = String(number).padStart(5, '0');
    const organizationId = `or-${name}-simul-00000000000000`;
    const webhookIds = Array.from({ length: options.webhooks }, (_, index) => {
      const webhookId = `wh-${name}-simul-0000000000000${index}`;
      const url = `https://receiver.example/${number}/${index}`;
      kinds.set(url, options.receivers[(number + index) % options.receivers.length] ?? 'fast');
      const isHealthy = random(`health of ${webhookId}`) < options.healthy;
      database.webhooks.set(webhookId, {
        webhookId,
        organizationId,
        url,
        secretVersion: 1,
        health: { failures: 0, ...(!isHealthy && { unhealthyAt: database.now() }) },
      });
      invariants.webhooks.set(webhookId, new WebhookBook(webhookId, organizationId, url));
      return webhookId;
    });
    const times: number[] = [];
    for (let event = 0; event < options.events; event++) {
      const id = `ev-${number}-${event}`;
      const before = random(`burst of ${id}`) < options.bursts ? times.at(-1) : undefined;
      const time = random(`time of ${id}`);
      const at = before === undefined ? time * (end - start) : before + 3_000 * time ** 3;
      times.push(at);
      const text = writeEvent(
        { id, organizationId, kind: 'wallet.created', data: '1' },
        new Date(start + at),
      );
      const send = () => {
        database.purge();
        invariants.sent(id, organizationId, text);
        queues.events.add(text);
      };
      plan(id, at, send);
      const isRepeated = (how: string) => random(`${how} ${id}`) < options.repeats;
      const later = (what: string) => at + day * random(`time of ${what} ${id}`);
      if (isRepeated('later')) plan(`later-${id}`, at + options.repeatDays * (later('later') - at), send);
      if (isRepeated('twice')) plan(`twice-${id}`, at + 1_000 * random(`soon after ${id}`) ** 3, send);
      const webhookId = pick(webhookIds, `webhook of ${id}`);
      const redeliver = () => operators.redeliver(webhookId, id, `again-${id}`);
      if (isRepeated('again')) plan(`again-${id}`, later('again'), redeliver);
    }
    for (let act = 0; act < options.acts; act++) {
      const id = `act-${number}-${act}`;
      // Most often while attempts of an event are under way.
      const at = pick(times, `event of ${id}`) + day * random(`time of ${id}`) ** 12;
      const webhookId = pick(webhookIds, `webhook of ${id}`);
      const url = `https://receiver.example/${number}/${id}`;
      kinds.set(url, pick(options.receivers, `receiver of ${id}`));
      const what = random(id);
      const after = day * random(`time after ${id}`) ** 6;
      if (what < 0.3) plan(id, at, () => operators.disable(webhookId));
      if (what < 0.5) plan(`${id}-enable`, at + after, () => operators.enable(webhookId));
      else if (what < 0.65) plan(id, at, () => operators.move(webhookId, url));
      else if (what < 0.8) plan(id, at, () => operators.rotate(webhookId));
      else if (what < 0.97) plan(id, at, () => operators.test(webhookId, `test-${id}`));
      else plan(id, at, () => operators.removeOrganization(organizationId));
    }
  }

  const { violations } = invariants;
  const isViolated = () => violations.length > 0;
  await clock.run(end, isViolated);
  faults.end();
  if (!part.isCut) {
    await clock.run(end + (options.repeatDays + 5) * day, isViolated);
    const left = Object.values(queues).reduce((sum, { size }) => sum + size, 0);
    if (left > 0 && !isViolated())
      invariants.violated('', `${left} messages are left five days after the last fault`);
  }
  const counts = invariants.counts();
  return { violations, busy, faults: faults.happened, events: [...happened], ...counts, history };
}
