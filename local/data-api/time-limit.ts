import type pg from 'pg';
import { type Connections, type DatabaseTarget, processId, type Work } from './connections';
import { DataApiError } from './errors';

export interface TimeLimit {
  readonly milliseconds: number;
  /** The caller gets a timeout, but the statement continues. */
  readonly continueAfterTimeout: boolean;
}

/**
 * Does `task` within the limit. Past it the answer is a `StatementTimeoutException`, after the running statement was
 * cancelled, or at once when it is to continue; `signal` tells the task to start no further one.
 */
export function withinLimit<T>(
  limit: TimeLimit,
  on: { connections: Connections; target: DatabaseTarget; client: pg.ClientBase },
  task: (signal: AbortSignal) => Promise<T>,
): Work<T> {
  const stop = new AbortController();
  const running = task(stop.signal);
  const settled = running.then(
    () => {},
    () => {},
  );
  let cancelling: Promise<void> = Promise.resolve();
  const timedOut = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => {
      if (!limit.continueAfterTimeout) {
        stop.abort();
        cancelling = on.connections.cancel(on.target, on.client).catch(() => {});
      }
      const answered = limit.continueAfterTimeout ? Promise.resolve() : Promise.all([cancelling, settled]);
      void answered.then(() => reject(timeout(on.client)));
    }, limit.milliseconds);
    void settled.then(() => clearTimeout(timer));
  });
  const answer = Promise.race([
    timedOut,
    running.finally(() => (stop.signal.aborted ? timedOut : undefined)),
  ]);
  return { answer, free: settled.then(() => cancelling) };
}

function timeout(client: pg.ClientBase): DataApiError {
  return new DataApiError('StatementTimeoutException', 'Request timed out', {
    dbConnectionId: processId(client),
  });
}
