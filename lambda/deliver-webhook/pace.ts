import { ok, type Result } from '../../domain/result';
import type { DatabaseUnavailable } from '../database/database';
import type { ReceivedDelivery } from './request';

/**
 * How fast deliveries that have waited go out to one webhook, so that what waits while the origin is detached does not
 * become a burst. Fresh deliveries go out as they come.
 */
export interface Pace {
  /** Slots of a webhook a second: so many for first attempts, and as many for repeated ones. */
  readonly perSecond: number;
  /** Milliseconds after its event was accepted in which a delivery needs no slot. */
  readonly freshFor: number;
}

/** A database that has to wake takes 20 s: what waits for that alone is still fresh. */
export const pace: Pace = { perSecond: 50, freshFor: 30_000 };

/** Milliseconds around its slot in which a delivery is attempted: SQS counts delays in whole seconds. */
export const slotTolerance = { early: 500, late: 1_000 } as const;

export interface SlotRequest {
  readonly webhookId: string;
  /** Milliseconds since 1970: among requests at once, the oldest gets the first slot. */
  readonly acceptedAt: number;
  /** Whether it was received before. */
  readonly repeated: boolean;
  /** Milliseconds from its slot to the next one of the webhook. */
  readonly lengthMs: number;
}

/** The moments at which the deliveries of a webhook that have waited are attempted, one after the other. */
export interface Slots {
  /** Reserves the next one, and returns the milliseconds until then. A slot that is not used is lost. */
  reserve(request: SlotRequest): Promise<Result<number, DatabaseUnavailable>>;
}

/** The milliseconds that a delivery has to wait for its turn: none when it is fresh, or has its slot now. */
export async function waitForSlot(
  { delivery, receivedBefore, slotAt }: ReceivedDelivery,
  now: number,
  { slots, pace }: { readonly slots: Slots; readonly pace: Pace },
): Promise<Result<number, DatabaseUnavailable>> {
  const { webhookId, acceptedAt } = delivery;
  if (now - acceptedAt < pace.freshFor) return ok(0);
  // A slot lapses, or those that lapse while the origin is detached would make the burst.
  if (slotAt !== undefined && now - slotAt <= slotTolerance.late) return ok(0);
  return slots.reserve({ webhookId, acceptedAt, repeated: receivedBefore, lengthMs: 1_000 / pace.perSecond });
}
