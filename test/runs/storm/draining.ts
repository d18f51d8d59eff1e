import { slotTolerance } from '../../../lambda/deliver-webhook/pace';
import type { Check } from '../harness/checks';
import type { ReceiverKind } from './behaviour';
import { followDeliveries } from './deliveries';
import type { Observations } from './observations';
import type { StormSettings } from './settings';

/** How the deliveries that had waited came to one receiver. */
export type Draining = {
  readonly receiver: ReceiverKind;
  readonly deliveries: number;
  readonly requests: number;
  /** From the first request to the last. */
  readonly seconds: number;
  readonly mostInASecond: number;
  /** By how many places the order of arrival differs from that of acceptance, at most. */
  readonly displaced: number;
};

/** One for each receiver of the detached phase. */
export function drainings({ phases, ledgers }: Observations): readonly Draining[] {
  const byWebhook = new Map(ledgers.map((ledger) => [ledger.webhookId, ledger]));
  const detached = phases.filter(({ name }) => name === 'detached');
  return detached.flatMap(({ subscriptions, events }) =>
    subscriptions.map(({ webhookId, kind, eventKind }) => {
      const { times = [], arrivals = [] } = byWebhook.get(webhookId) ?? {};
      const accepted = events.filter((event) => event.kind === eventKind);
      const places = new Map(accepted.map(({ id }, place) => [id, place]));
      const moves = arrivals.map(({ eventId }, place) => Math.abs(place - (places.get(eventId) ?? 0)));
      return {
        receiver: kind,
        deliveries: accepted.length,
        requests: times.length,
        seconds: ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1_000,
        mostInASecond: mostWithin(times, 1_000),
        displaced: moves.reduce((most, move) => Math.max(most, move), 0),
      };
    }),
  );
}

/** The slots, of first attempts and of repeated ones, whose deliveries may be attempted within one second. */
export const mostInASecond = ({ clock }: StormSettings): number =>
  (2 * clock.pace.perSecond * (1_000 + slotTolerance.early + slotTolerance.late)) / 1_000;

export function checkPace(seen: Observations, settings: StormSettings): readonly Check[] {
  const most = mostInASecond(settings);
  const atOnce = givenUpAtOnce(seen);
  const lost = seen.phases.find(({ name }) => name === 'detached')?.lost ?? 0;
  return [
    {
      name: `of what waited for a day, no receiver gets more than ${most} in a second`,
      violations: drainings(seen)
        .filter((draining) => draining.mostInASecond > most)
        .map(({ receiver, mostInASecond }) => `${receiver}: ${mostInASecond}`),
    },
    {
      name: 'none of it is given up at its first attempt: the wait is not its age',
      // On a busy machine a batch may be lost, and grow old, by a clock that is so much faster than the product's.
      violations: atOnce.length > lost ? atOnce : [],
    },
  ];
}

const givenUpAtOnce = (seen: Observations): string[] =>
  followDeliveries(seen)
    .fates.filter(({ phase, deadLettered }) => phase === 'detached' && deadLettered > 0)
    .filter(({ arrival }) => (arrival?.requests ?? 0) < 2)
    .map(({ kind, webhookId, eventId }) => `${kind} ${webhookId} ${eventId}`);

/** Of one receiver's deliveries, as its queue is not strict, and as those that missed their slots come later. */
const mostDisplaced = 0.6;

/** For long lines only: in a short one the first few batches, which are received at once, are half of all. */
export function checkOrder(seen: Observations): Check {
  return {
    name: `what waited comes oldest first: none is displaced by more than ${mostDisplaced} of the line`,
    violations: drainings(seen)
      .filter(({ displaced, deliveries }) => deliveries >= 500 && displaced > deliveries * mostDisplaced)
      .map(({ receiver, displaced, deliveries }) => `${receiver}: ${displaced} of ${deliveries} places`),
  };
}

/** The most of these times, which are in order, that lie in one window of so many milliseconds. */
function mostWithin(times: readonly number[], window: number): number {
  let most = 0;
  let from = 0;
  for (const [index, time] of times.entries()) {
    while (time - (times[from] ?? time) >= window) from += 1;
    most = Math.max(most, index - from + 1);
  }
  return most;
}
