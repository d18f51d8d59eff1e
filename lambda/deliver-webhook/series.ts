import type { Delivery } from '../../domain/delivery';
import type { DeliveryState, LookedAt, SeriesState, Successor } from './ports';

/** `made`: its request was made, and its successor may not have been sent. */
export type Standing =
  | { readonly kind: 'due' }
  | { readonly kind: 'done' }
  | { readonly kind: 'made'; readonly successor: Successor };

export const numberOf = ({ number, attempt = 1 }: Pick<Delivery, 'number' | 'attempt'>) => number ?? attempt;

/** What a message is by the attempts of its delivery: docs/decisions/one-chain.md. */
export function standingOf(
  delivery: Pick<Delivery, 'series' | 'number' | 'attempt' | 'copy'>,
  state: SeriesState,
): Standing {
  const { last } = state;
  if (isReplaced(delivery.series ?? '', state)) return { kind: 'done' };
  const number = numberOf(delivery);
  if (!last || (last.successor && last.number < number)) return { kind: 'due' };
  const isOther = delivery.copy !== undefined && delivery.copy !== last.copy;
  if (!last.successor || last.number > number || isOther) return { kind: 'done' };
  return { kind: 'made', successor: last.successor };
}

/**
 * By another series that was delivered since this one began, or began later. Without a request of its own, the first series is
 * replaced by any other, because a repeat of the event reaches only webhooks that had no attempt of it; a redelivery always makes
 * its first request.
 */
function isReplaced(series: string, { begunAt, other }: SeriesState): boolean {
  if (!other) return false;
  if (begunAt === undefined) return series === '';
  const { deliveredAt = Number.NEGATIVE_INFINITY } = other;
  const isLater = other.begunAt > begunAt || (other.begunAt === begunAt && other.series > series);
  return deliveredAt >= begunAt || isLater;
}

/**
 * Of deliveries that could be the trial of their webhook, one stays it: the first that is due. If none is, the first gives the
 * claim back, so that others do not wait for a request that nobody makes.
 */
export function handOut(
  looks: readonly { readonly delivery: LookedAt; readonly state: DeliveryState }[],
): readonly DeliveryState[] {
  return looks.map((look) => {
    const { trial, ...others } = look.state;
    if (!trial) return others;
    const candidates = looks.filter(
      ({ delivery, state }) => state.trial && delivery.webhookId === look.delivery.webhookId,
    );
    const due = candidates.find(({ delivery, state }) => standingOf(delivery, state).kind === 'due');
    return (due ?? candidates[0]) === look ? look.state : others;
  });
}
