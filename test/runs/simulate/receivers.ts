/** How a receiver answers a request: after a time in milliseconds, or never. */
export interface Answer {
  readonly after: number;
  readonly status?: number;
  readonly retryAfter?: string;
}

const hangs: Answer = { after: Number.POSITIVE_INFINITY };
const well = (random: number): Answer => ({ after: 20 + 180 * random, status: 204 });

/** In one of three hours otherwise than in the two others. */
const isFirst = (now: number) => Math.floor(now / 3_600_000) % 3 === 0;

/** The receivers of a world. `random` is from 0 to 1, `now` is in milliseconds since 1970. */
export const receiverKinds = {
  fast: well,
  '3 s': () => ({ after: 3_000, status: 200 }),
  '14 s': () => ({ after: 14_000, status: 200 }),
  hangs: () => hangs,
  closes: () => ({ after: 10 }),
  400: () => ({ after: 50, status: 400 }),
  503: () => ({ after: 50, status: 503 }),
  410: (random) => ({ after: 50 + 5_000 * random ** 3, status: 410 }),
  '429 with seconds': (random) => ({
    after: 50,
    status: 429,
    retryAfter: String(Math.round(5_000 * random)),
  }),
  '503 with a date': (random, now) => {
    return { after: 50, status: 503, retryAfter: new Date(now + 30_000_000 * random).toUTCString() };
  },
  /** Up in some of the hours, as the next four. */
  flaps: (random, now) => (isFirst(now) ? well(random) : { after: 100 + 900 * random, status: 502 }),
  'hangs for hours': (random, now) => (isFirst(now) ? hangs : well(random)),
  'asks for hours': (random, now) => {
    if (!isFirst(now)) return well(random);
    return {
      after: 50,
      status: 503,
      retryAfter: String(Math.ceil(random < 0.7 ? 50 * random : 900 * random)),
    };
  },
  'slow for hours': (random, now) =>
    isFirst(now) ? { after: 2_500 + 9_000 * random, status: 200 } : well(random),
  'some answer': (random) => {
    if (random < 0.55) return hangs;
    return random < 0.9 ? { after: 300 * random, status: 500 } : well(random);
  },
} as const satisfies Record<string, (random: number, now: number) => Answer>;

export type ReceiverKind = keyof typeof receiverKinds;
