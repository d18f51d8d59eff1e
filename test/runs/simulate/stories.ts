import { createRandom, faultKinds } from './faults';
import { type ReceiverKind, receiverKinds } from './receivers';
import { type Outcome, runWorld, type WorldOptions } from './world';

/** Draws a small world: which faults it has and how often, how its receivers are, and outages. Many see more than one that is large. */
export function drawWorld(seed: number, change: Partial<WorldOptions> = {}): WorldOptions {
  const random = createRandom(seed);
  const draw = (what: string, most: number) => Math.floor(most * random(what));
  const days = 0.1 + 0.9 * random('days');
  // Two together show most, and many hide one another.
  const probabilities = faultKinds.flatMap((kind) =>
    random(`with ${kind}`) < 0.3 ? [[kind, 10 ** -(0.5 + 2.5 * random(kind))]] : [],
  );
  const others = Object.keys(receiverKinds) as ReceiverKind[];
  const good: ReceiverKind[] = Array(draw('good receivers', 4)).fill('fast');
  return {
    seed,
    days,
    organizations: 1 + draw('organizations', 3),
    webhooks: 1 + draw('webhooks', 3),
    events: 1 + draw('events', 16),
    acts: random('with acts') < 0.4 ? 0 : 1 + draw('acts', 5),
    receivers: [...good, ...others.filter((kind) => random(`receiver ${kind}`) < 0.4), 'fast'],
    recovers: random('recovers') < 0.8,
    probabilities: Object.fromEntries(probabilities),
    repeats: random('with repeats') < 0.5 ? 0 : 0.2,
    // Stored for 14 days, and known for 31: a repeat reaches nobody, then everybody.
    repeatDays: random('late repeats') < 0.8 ? 1 : 45,
    bursts: random('bursts'),
    healthy: random('healthy'),
    skew: Math.round(2_000 * random('skew') - 1_000),
    outages: ['database', 'keys', 'queues']
      .filter((service) => random(`outage of ${service}`) < 0.2)
      .map((service) => {
        const from = 24 * days * random(`beginning of ${service}`);
        return { service, from, to: from + 4 * random(`end of ${service}`) };
      }),
    ...change,
  };
}

/**
 * The shortest story of a violation: as few events and faults as still violate something; its own event alone if that is
 * enough.
 */
export async function tellStory(options: WorldOptions, outcome: Outcome): Promise<Outcome> {
  const run = (events: readonly string[], faults: readonly string[]) =>
    runWorld(options, { events: new Set(events), faults: new Set(faults) });
  const own = outcome.violations.find(({ eventId }) => eventId !== '')?.eventId ?? '';
  const isViolated = async (events: readonly string[], faults: readonly string[]) =>
    (await run(events, faults)).violations.length > 0;
  const events = (await isViolated([own], outcome.faults))
    ? [own]
    : await shorten(outcome.events, (fewer) => isViolated(fewer, outcome.faults));
  const faults = await shorten(outcome.faults, (fewer) => isViolated(events, fewer));
  return run(events, faults);
}

/** Leaves out what the property does not need: halves first, then ever smaller parts. */
async function shorten(
  all: readonly string[],
  holds: (some: readonly string[]) => Promise<boolean>,
): Promise<readonly string[]> {
  let needed = all;
  for (let size = Math.ceil(all.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < needed.length; ) {
      const fewer = needed.filter((_, index) => index < from || index >= from + size);
      if (await holds(fewer)) needed = fewer;
      else from += size;
    }
  }
  return needed;
}
