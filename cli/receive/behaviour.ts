import { setTimeout as sleep } from 'node:timers/promises';

/** How the receiver behaves towards deliveries, for trying what becomes of them. */
export interface Behaviour {
  /** The status of every answer. @default 204 when verified, 401 otherwise */
  readonly respond?: number;
  /** The part of deliveries that is answered with 500 instead, from 0 to 1. */
  readonly failRate: number;
  /** Seconds before an answer. */
  readonly delay: number;
}

/** The status of an answer, when its time has come. */
export async function statusOf(
  verified: boolean,
  { respond, failRate, delay }: Behaviour,
  signal: AbortSignal,
): Promise<number> {
  if (delay > 0) await sleep(delay * 1_000, undefined, { signal });
  if (Math.random() < failRate) return 500;
  return respond ?? (verified ? 204 : 401);
}
