import { writeEvent } from '../../../domain/event';
import * as deliverWebhook from '../../../lambda/deliver-webhook/variables';
import * as fanOutEvent from '../../../lambda/fan-out-event/variables';
import { Clock } from './clock';
import { SimulatedDatabase } from './database';
import { Faults } from './faults';
import { Instance, type World } from './functions';
import { Invariants } from './invariants';
import { operate } from './operators';
import type { WorldOptions } from './options';
import type { ReceiverKind } from './receivers';
import { SimulatedQueue } from './sqs';
import { WebhookBook } from './webhook-book';

export type Outcome = Awaited<ReturnType<typeof runWorld>>;

const consumers = {
  events: { ...fanOutEvent, concurrency: 10 },
  deliveries: { ...deliverWebhook, concurrency: 20 },
  retries: { ...deliverWebhook, concurrency: 20 },
};
const day = 24 * 3_600_000;

/**
 * Runs a world: its days with faults, then without, until nothing is left to do, or until the first violation.
 *
 * @param only exactly these events are sent, acts and faults happen, by their names. @default - those that the seed draws
 * @param isCut it ends with its days: what waits then, waits
 */
export async function runWorld(options: WorldOptions, only?: ReadonlySet<string>, isCut = false) {
  const clock = new Clock();
  const start = clock.now;
  const database = new SimulatedDatabase(() => clock.now + options.skew);
  const invariants = new Invariants(clock);
  const faults = new Faults(options, only, clock, invariants);
  const { random, end } = faults;
  const busy = { events: 0, deliveries: 0, retries: 0 };
  let instances = 0;
  const consumed = (name: keyof typeof consumers) => {
    const { visibilitySeconds, timeoutSeconds, concurrency } = consumers[name];
    const wake = () => clock.after(10, poll);
    const queue = new SimulatedQueue(name, 1_000 * visibilitySeconds, { clock, faults, invariants }, wake);
    const idle: Instance[] = [];
    let running = 0;
    return queue;

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
      const instance = idle.pop() ?? new Instance(world, ++instances, name);
      const began = clock.now;
      let isOver = false;
      clock.after(1_000 * timeoutSeconds, () => {
        if (isOver || instance.death.signal.aborted) return false;
        invariants.violated('', `a batch of ${name} took longer than its function may`);
        return instance.death.abort();
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
  const world: World = { clock, faults, database, invariants, queues, kindOf };

  const happened = new Set<string>();
  const plan = (name: string, at: number, run: () => void) => {
    if (only?.has(name) ?? true)
      clock.after(at, () => {
        happened.add(name);
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
      const health = { failures: 0, ...(!isHealthy && { unhealthyAt: database.now() }) };
      database.webhooks.set(webhookId, { webhookId, organizationId, url, secretVersion: 1, health });
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
      const content = { id, organizationId, kind: 'wallet.created', data: '1' };
      const text = writeEvent(content, new Date(start + at));
      const send = () => {
        database.purge();
        invariants.sent(id, organizationId, text);
        queues.events.add(text);
      };
      plan(id, at, send);
      const isRepeated = (how: string) => random(`${how} ${id}`) < options.repeats;
      const later = (what: string) => day * random(`time of ${what} ${id}`);
      if (isRepeated('later')) plan(`later-${id}`, at + options.repeatDays * later('later'), send);
      if (isRepeated('twice')) plan(`twice-${id}`, at + 1_000 * random(`soon after ${id}`) ** 3, send);
      const webhookId = pick(webhookIds, `webhook of ${id}`);
      if (isRepeated('again'))
        plan(`again-${id}`, at + later('again'), () => operate(world, 'redeliver', webhookId, id));
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
      if (what < 0.3) plan(id, at, () => operate(world, 'disable', webhookId));
      if (what < 0.5) plan(`${id}-enable`, at + after, () => operate(world, 'enable', webhookId));
      else if (what < 0.65) plan(id, at, () => operate(world, 'move', webhookId, url));
      else if (what < 0.8) plan(id, at, () => operate(world, 'rotate', webhookId));
      else if (what < 0.97) plan(id, at, () => operate(world, 'test', webhookId, `test-${id}`));
      else plan(id, at, () => operate(world, 'remove organization', webhookId));
    }
  }

  const { violations, history } = invariants;
  const isViolated = () => violations.length > 0;
  await clock.run(end, isViolated);
  if (!isCut) {
    await clock.run(end + (options.repeatDays + 5) * day, isViolated);
    const left = Object.values(queues).reduce((sum, { size }) => sum + size, 0);
    if (left > 0 && !isViolated())
      invariants.violated('', `${left} messages are left five days after the last fault`);
  }
  return {
    violations,
    /** Milliseconds that invocations took, by queue. */
    busy,
    /** The names of those that happened, of events with what operators did. */
    faults: faults.happened,
    events: [...happened],
    ...invariants.counts,
    history,
  };
}

/** The shortest story of a violation: events and faults are left out, halves first, then ever smaller parts. */
export async function tellStory<Told extends Pick<Outcome, 'events' | 'faults' | 'violations'>>(
  outcome: Told,
  run: (only: ReadonlySet<string>) => Promise<Told>,
): Promise<Told> {
  let story = outcome;
  const namesOf = ({ events, faults }: Told) => [...events, ...faults];
  for (let size = Math.ceil(namesOf(story).length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < namesOf(story).length; ) {
      const names = namesOf(story);
      const shorter = await run(new Set(names.filter((_, index) => index < from || index >= from + size)));
      // One fault of a call brings back those of its other messages.
      if (shorter.violations.length > 0 && namesOf(shorter).length < names.length) story = shorter;
      else from += size;
    }
  }
  return story;
}
