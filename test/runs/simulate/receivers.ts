/** How a receiver answers a request: after a time in milliseconds, or never. */
export interface Answer {
  readonly after: number;
  readonly status?: number;
  readonly retryAfter?: string;
}

/** The receivers of a world. `random` is from 0 to 1, `now` is in milliseconds since 1970. */
export const receiverKinds = {
  fast: (random) => ({ after: 20 + 180 * random, status: 204 }),
  '3 s': () => ({ after: 3_000, status: 200 }),
  '14 s': () => ({ after: 14_000, status: 200 }),
  hangs: () => ({ after: Number.POSITIVE_INFINITY }),
  closes: () => ({ after: 10 }),
  400: () => ({ after: 50, status: 400 }),
  503: () => ({ after: 50, status: 503 }),
  410: () => ({ after: 50, status: 410 }),
  '429 with seconds': (random) => ({
    after: 50,
    status: 429,
    retryAfter: String(Math.round(5_000 * random)),
  }),
  '503 with a date': (random, now) => {
    return { after: 50, status: 503, retryAfter: new Date(now + 30_000_000 * random).toUTCString() };
  },
  /** Up in some of the hours. */
  flaps: (random, now) => {
    const hour = Math.floor(now / 3_600_000);
    return hour % 3 === 0 ? { after: 100, status: 204 } : { after: 100 + 900 * random, status: 502 };
  },
} as const satisfies Record<string, (random: number, now: number) => Answer>;

export type ReceiverKind = keyof typeof receiverKinds;
