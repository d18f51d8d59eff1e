/** How much load there is, and in which shape. */
export interface LoadSettings {
  /** How long it goes on, in whole cycles. */
  readonly minutes: number;
  /** Decides which requests are made. */
  readonly seed: number;
  /** Requests a second to each environment, in the steady part of a cycle. */
  readonly rate: number;
}

/** Seconds of a cycle's steady part. A burst and a look at the memory follow it. */
export const steadySeconds = 15;
/** Connections to each environment while the rate is steady: each sends its share of a second one after the other. */
export const steadyConnections = 5;
/** As fast as they are answered, to each environment. */
export const burst = { requests: 120, connections: 40 } as const;
/** Of the requests, those that are deletions to be carried out. */
export const shareOfDue = 0.6;
