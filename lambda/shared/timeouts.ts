/** The most milliseconds that a call takes, with its retries. Their sum over a function's calls is below its timeout. */
export const timeouts = {
  /** A connection to the database, then a statement; without waiting for a paused cluster. */
  database: { connection: 5_000, statement: 8_000 },
  keys: 5_000,
  /** A request to SQS, or several at once. */
  queue: 5_000,
  /** What a receiver is promised for its response. */
  response: 15_000,
} as const;

/** Milliseconds of one call to the database. */
export const longestCall = timeouts.database.connection + timeouts.database.statement;
