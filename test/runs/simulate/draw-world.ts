import { createRandom, faultKinds } from './faults';
import { type ReceiverKind, receiverKinds } from './receivers';
import type { WorldOptions } from './world';

/** Draws a small world: which faults it has and how often, and how its receivers are. Many see more than one that is large. */
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
    bursts: random('bursts'),
    healthy: random('healthy'),
    skew: Math.round(2_000 * random('skew') - 1_000),
    ...change,
  };
}
