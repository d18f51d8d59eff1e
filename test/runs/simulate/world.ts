import { deliveryId, writeDelivery } from '../../../domain/delivery';
import { parseEvent, writeEvent, writeRedelivery } from '../../../domain/event';
import * as deliverWebhook from '../../../lambda/deliver-webhook/variables';
import * as fanOutEvent from '../../../lambda/fan-out-event/variables';
import { Clock } from './clock';
import { SimulatedDatabase } from './database';
import { createRandom, type FaultKind, Faults } from './faults';
import { DeliverWebhook, FanOutEvent, type Surroundings } from './functions';
import { Invariants, type Violation } from './invariants';
import type { ReceiverKind } from './receivers';
import { SimulatedQueue, subjectOf } from './sqs';

/** A world, as its seed draws it or a story tells it. */
export interface WorldOptions {
  readonly seed: number;
  readonly days: number;
  readonly organizations: number;
  /** How many each organization has. */
  readonly webhooks: number;
  readonly eventsPerDay: number;
  /** Those of the webhooks, one organization after another. */
  readonly receivers: readonly ReceiverKind[];
  readonly probabilities: Readonly<Partial<Record<FaultKind, number>>>;
  /** Share of the events that their producer sends again, that an operator redelivers, and that the release before retries. */
  readonly repeats: number;
  /** When a service of ours refuses everything: hours from the beginning. */
  readonly outages: readonly { readonly service: string; readonly from: number; readonly to: number }[];
}

/** A part of a world, to tell a story with. */
export interface Part {
  /** Exactly these faults happen. */
  readonly faults?: ReadonlySet<string>;
  /** Only these events are sent. */
  readonly events?: ReadonlySet<string>;
  /** It ends with its days: what waits then, waits. */
  readonly isCut?: boolean;
}

/** How a world went. */
export interface Outcome {
  readonly violations: readonly Violation[];
  /** Their names. */
  readonly faults: readonly string[];
  /** The ids of those that were sent. */
  readonly events: readonly string[];
  readonly deliveries: number;
  readonly requests: number;
  /** Seconds that invocations took, by queue. */
  readonly busySeconds: Readonly<Record<string, number>>;
  /** Milliseconds from an event to its first request, for receivers that answer at once, in order. */
  readonly firstAttempts: readonly number[];
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
  const database = new SimulatedDatabase(() => clock.now);
  const invariants = new Invariants(clock, database, options.outages.length > 0);
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

  const busySeconds: Record<string, number> = {};
  const consumed = (['events', 'deliveries', 'retries'] as const).map((name) => {
    const { visibilitySeconds, timeoutSeconds, concurrency } = consumers[name];
    const settings = {
      ...{ name, visibilityTimeout: 1_000 * visibilitySeconds, isDown: () => isDown('queues') },
      wake: () => clock.after(10, poll),
      deadLetter: (body: string) => invariants.violated(subjectOf(body), 'on the dead-letter queue'),
      count(body: string, change: 1 | -1) {
        tell(subjectOf(body), `${change > 0 ? 'sent to' : 'gone from'} ${name}`);
        if (name !== 'events') invariants.count(body, change);
      },
    };
    const queue = new SimulatedQueue(settings, clock, faults);
    const idle: (FanOutEvent | DeliverWebhook)[] = [];
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
      const instance = idle.pop() ?? new (name === 'events' ? FanOutEvent : DeliverWebhook)(world);
      instance.batch = Records.map(({ body }) => subjectOf(body));
      const began = clock.now;
      let isOver = false;
      clock.after(1_000 * timeoutSeconds, () => {
        if (isOver || instance.isDead) return;
        invariants.violated('', `a batch of ${name} took longer than its function may`);
        instance.die();
      });
      const handled = await Promise.race([instance.handle({ Records }), instance.killed]);
      isOver = true;
      busySeconds[name] = (busySeconds[name] ?? 0) + (clock.now - began) / 1_000;
      clock.touch();
      if (handled === 'killed') return;
      const failed = new Set(handled.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      const done = Records.filter(({ messageId }) => !failed.has(messageId));
      for (const { body, receiptHandle } of done) {
        if (name === 'events') invariants.fannedOut(deliveriesOf(body));
        queue.delete(receiptHandle);
      }
      const isDone = new Set(done.map(({ body }) => subjectOf(body)));
      if (instance instanceof DeliverWebhook)
        for (const request of instance.gone)
          if (isDone.has(request.deliveryId)) invariants.afterGone(request);
      idle.push(instance);
    }
  });
  const [events, deliveries, retries] = consumed as [SimulatedQueue, SimulatedQueue, SimulatedQueue];
  const kinds = new Map<string, ReceiverKind>();
  const world: Surroundings = {
    ...{ clock, random, faults, database, invariants, isDown, tell },
    queues: { events, deliveries, retries },
    kindOf: (webhookId) => kinds.get(webhookId) ?? 'fast',
  };

  /** Those that an event must have become when the fan-out is done with it. */
  function deliveriesOf(body: string): readonly string[] {
    const event = parseEvent(body);
    if (!event.ok || event.value.kind.startsWith('webhook.')) return [];
    const { id, organizationId } = event.value;
    const webhooks = database.of(organizationId).filter(({ enabled }) => enabled);
    return webhooks.map(({ webhookId }) => deliveryId(id, webhookId));
  }

  const sent = new Set<string>();
  for (let number = 0; number < options.organizations; number++) {
    const name = String(number).padStart(5, '0');
    const organizationId = `or-${name}-simul-00000000000000`;
    for (let index = 0; index < options.webhooks; index++) {
      const webhookId = `wh-${name}-simul-0000000000000${index}`;
      kinds.set(webhookId, options.receivers[(number + index) % options.receivers.length] ?? 'fast');
      const url = 'https://receiver.example/';
      database.addWebhook({ webhookId, organizationId, url, enabled: true, health: { failures: 0 } });
    }
    for (let event = 0; event < options.eventsPerDay * options.days; event++) {
      const id = `ev-${number}-${event}`;
      if (part.events && !part.events.has(id)) continue;
      const at = random(`time of ${id}`) * (end - start);
      const text = writeEvent(
        { id, organizationId, kind: 'wallet.created', data: '1' },
        new Date(start + at),
      );
      const send = (body: string) => () => {
        sent.add(id);
        events.add(body);
      };
      clock.after(at, send(text));
      // Some are sent again by their producer, or redelivered by an operator, up to a day later.
      const later = at + random(`later than ${id}`) * day;
      const what = random(`again ${id}`);
      const webhookId = `wh-${name}-simul-00000000000000`;
      if (what < options.repeats) clock.after(later, send(text));
      else if (what < 2 * options.repeats)
        clock.after(later, send(writeRedelivery({ eventId: id, webhookId, series: `again-${id}` })));
      else if (what < 3 * options.repeats) {
        const eventId = `old-${id}`;
        const ids = { deliveryId: deliveryId(eventId, webhookId), webhookId, eventId };
        const old = writeDelivery({ ...ids, acceptedAt: start + Math.floor(at), body: text, attempt: 2 });
        clock.after(at, () => retries.add(old));
      }
    }
  }

  const { violations } = invariants;
  const left = () => consumed.reduce((sum, { size }) => sum + size, 0);
  await clock.run(end, () => violations.length > 0);
  faults.end();
  if (!part.isCut) await clock.run(end + 5 * day, () => violations.length > 0 || left() === 0);
  if (!part.isCut && violations.length === 0 && left() > 0)
    invariants.violated('', `${left()} messages are left five days after the last fault`);
  return {
    violations,
    busySeconds,
    firstAttempts: invariants.firstAttempts((webhookId) => kinds.get(webhookId) === 'fast'),
    faults: faults.happened,
    events: [...sent],
    ...invariants.counts(),
    history,
  };
}
