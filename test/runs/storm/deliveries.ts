import type { Arrival } from '../world/ledger';
import type { ReceiverKind } from './behaviour';
import type { Observations } from './observations';
import type { Phase } from './phase';

/** One event for one webhook that wants it, and all that became of it. */
export interface Fate {
  readonly phase: Phase['name'];
  readonly kind: ReceiverKind;
  readonly eventId: string;
  readonly webhookId: string;
  /** What the receiver saw of it. */
  readonly arrival: Arrival | undefined;
  /** The receiver answered 2xx. */
  readonly delivered: boolean;
  readonly givenUp: boolean;
  /** The webhook was disabled by then. */
  readonly stopped: boolean;
  /** It was answered 410. */
  readonly gone: boolean;
  /** A fan-out made no delivery of it any more, because the webhook was disabled by then. */
  readonly notMade: boolean;
}

const key = (webhookId: string, eventId: string) => `${webhookId} ${eventId}`;

/** The fate of each expected delivery; `unexpected` names the others that were seen. */
export function followDeliveries(seen: Observations): {
  readonly fates: readonly Fate[];
  readonly unexpected: readonly string[];
} {
  const arrivals = new Map(
    seen.ledgers.flatMap(({ webhookId, arrivals }) =>
      arrivals.map((arrival) => [key(webhookId, arrival.eventId), arrival] as const),
    ),
  );
  const givenUp = new Set(seen.givenUp.map(({ webhookId, eventId }) => key(webhookId, eventId)));
  const fates: Fate[] = [];
  const expected = new Set<string>();
  for (const phase of seen.phases) {
    for (const event of phase.events) {
      const wanting = phase.subscriptions.filter(({ eventKind }) => eventKind === event.kind);
      const sentToFewer = (seen.fanOuts.get(event.id) ?? []).some((count) => count < wanting.length);
      for (const { webhookId, kind } of wanting) {
        const name = key(webhookId, event.id);
        expected.add(name);
        const arrival = arrivals.get(name);
        fates.push({
          ...{ phase: phase.name, kind, eventId: event.id, webhookId, arrival },
          delivered: (arrival?.accepted ?? 0) > 0,
          givenUp: givenUp.has(name),
          stopped: seen.stopped.has(name),
          gone: kind === 'gone' && arrival !== undefined,
          notMade: kind === 'gone' && sentToFewer,
        });
      }
    }
  }
  const named = [...arrivals.keys(), ...givenUp, ...seen.stopped];
  return { fates, unexpected: named.filter((name) => !expected.has(name)) };
}
