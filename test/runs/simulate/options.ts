import { createRandom, type FaultKind, faultKinds } from './faults';
import { type ReceiverKind, receiverKinds } from './receivers';

export type WorldOptions = Readonly<ReturnType<typeof drawWorld>>;

const services = ['database', 'keys', 'queues'] as const;
export type Service = (typeof services)[number];

/** Draws a small world: which faults it has and how often, how its receivers are, and outages. Many see more than one that is large. */
export function drawWorld(seed: number) {
  const random = createRandom(seed);
  const draw = (what: string, most: number) => Math.floor(most * random(what));
  const days = 0.1 + 0.9 * random('days');
  // Two together show most, and many hide one another.
  const probabilities: Partial<Record<FaultKind, number>> = Object.fromEntries(
    faultKinds
      .filter((kind) => random(`with ${kind}`) < 0.3)
      .map((kind) => [kind, 10 ** -(0.5 + 2.5 * random(kind))]),
  );
  const others = Object.keys(receiverKinds) as ReceiverKind[];
  const good: ReceiverKind[] = Array(draw('good receivers', 4)).fill('fast');
  return {
    seed,
    days,
    organizations: 1 + draw('organizations', 3),
    /** How many each organization has, like events and acts of operators. */
    webhooks: 1 + draw('webhooks', 3),
    events: 1 + draw('events', 16),
    acts: random('with acts') < 0.4 ? 0 : 1 + draw('acts', 5),
    /** Those of the webhooks, one organization after another. */
    receivers: [...good, ...others.filter((kind) => random(`receiver ${kind}`) < 0.4), 'fast' as const],
    /** All receivers answer well after the days of the world: it ends sooner. */
    recovers: random('recovers') < 0.8,
    probabilities,
    /** Share of the events that their producer sends again at once, that it sends again later, and that an operator redelivers. */
    repeats: random('with repeats') < 0.5 ? 0 : 0.2,
    /** Days after which a producer sends an event again, at most: it is stored for 14 days, and known for 31. */
    repeatDays: random('late repeats') < 0.8 ? 1 : 45,
    /** Share of the events that come right after another one. */
    bursts: random('bursts'),
    healthy: random('healthy'),
    /** Milliseconds by which the database's clock differs from the functions'. */
    skew: Math.round(2_000 * random('skew') - 1_000),
    /** When a service of ours refuses everything: hours from the beginning. */
    outages: services
      .filter((service) => random(`outage of ${service}`) < 0.2)
      .map((service) => {
        const from = 24 * days * random(`beginning of ${service}`);
        return { service, from, to: from + 4 * random(`end of ${service}`) };
      }),
  };
}
