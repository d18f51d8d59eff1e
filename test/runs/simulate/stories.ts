import { createRandom, type FaultKind, faultKinds } from './faults';
import { type ReceiverKind, receiverKinds } from './receivers';
import { type Outcome, runWorld, type WorldOptions } from './world';

/** Draws a world: which faults it has and how often, how many organizations, how their receivers are, and outages. */
export function drawWorld(seed: number, change: Partial<WorldOptions> = {}): WorldOptions {
  const random = createRandom(seed);
  const draw = (what: string, most: number) => Math.floor(most * random(what));
  const kinds = Object.keys(faultKinds) as FaultKind[];
  const probability = (kind: FaultKind) => (random(`with ${kind}`) < 0.5 ? 0 : 10 ** -(1 + 3 * random(kind)));
  const others = Object.keys(receiverKinds) as ReceiverKind[];
  const good: ReceiverKind[] = Array(draw('good receivers', 12)).fill('fast');
  return {
    seed,
    days: 1,
    organizations: 1 + draw('organizations', 8),
    eventsPerDay: 1 + draw('events', 20),
    receivers: [...good, ...others.filter((kind) => random(`receiver ${kind}`) < 0.5), 'fast'],
    probabilities: Object.fromEntries(kinds.map((kind) => [kind, probability(kind)])),
    outages: ['database', 'keys']
      .filter((service) => random(`outage of ${service}`) < 0.3)
      .map((service) => {
        const from = draw(`beginning of ${service}`, 20);
        return { service, from, to: from + 4 * random(`end of ${service}`) };
      }),
    ...change,
  };
}

/**
 * The shortest story of a violation: its event alone, with as few faults as still violate something. None if the violation
 * needs other events.
 */
export async function tellStory(options: WorldOptions, outcome: Outcome): Promise<Outcome | undefined> {
  const event = outcome.violations.find(({ eventId }) => eventId !== '')?.eventId;
  if (event === undefined) return undefined;
  const tell = (faults: readonly string[]) =>
    runWorld(options, { events: new Set([event]), faults: new Set(faults) });
  let story = await tell(outcome.faults);
  if (story.violations.length === 0) return undefined;
  for (let size = story.faults.length; size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < story.faults.length; ) {
      const shorter = await tell(story.faults.filter((_, index) => index < from || index >= from + size));
      if (shorter.violations.length > 0) story = shorter;
      else from += size;
    }
  }
  return story;
}
