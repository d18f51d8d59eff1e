/** How much of a storm there is, and by which clock. */
export interface StormSettings {
  /** Events while sick receivers are there. */
  readonly events: number;
  /** At least 8: then there is one of each important kind. With 20 there are all. */
  readonly receivers: number;
  /** Receivers that want each event; as many kinds of events are made as that takes. */
  readonly wanted: number;
  /** Events for the healthy receivers alone: half of them before the others, half after. */
  readonly calmEvents: number;
  /** Events that go before, as fast as they can, so that the processes have started. */
  readonly warmUpEvents: number;
  /** Events a second. */
  readonly rate: number;
  /** Decides which requests fail, and when functions are killed. */
  readonly seed: number;
  /** Milliseconds between two kills of a function's process, on average. */
  readonly killEvery: { readonly deliverWebhook: number; readonly fanOutEvent: number };
  readonly clock: ScaledClock;
  /** Milliseconds for the queues to become empty after the last event. */
  readonly patience: number;
}

/** The product's times, shortened. Milliseconds. Queues keep time in whole seconds. */
export interface ScaledClock {
  /** Milliseconds from the first attempt to each. */
  readonly schedule: readonly number[];
  /** Of a receiver: for the connection, and for all. */
  readonly connectTimeout: number;
  readonly timeout: number;
  readonly functionTimeout: number;
  /** Until a message comes back whose function was killed. The template has six times the function's timeout. */
  readonly visibilityTimeout: number;
}

/** A twentieth of the product's times for receivers and functions; its 72 hours of retries are 13 seconds. */
const twentieth: ScaledClock = {
  schedule: [0, 1_000, 3_000, 7_000, 13_000],
  connectTimeout: 250,
  timeout: 750,
  functionTimeout: 3_750,
  visibilityTimeout: 23_000,
};

export const fullStorm: StormSettings = {
  events: 10_000,
  receivers: 20,
  wanted: 20,
  calmEvents: 1_000,
  warmUpEvents: 100,
  rate: 8,
  seed: 1,
  killEvery: { deliverWebhook: 3_000, fanOutEvent: 10_000 },
  clock: twentieth,
  patience: 300_000,
};
