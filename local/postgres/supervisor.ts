import { setTimeout as sleep } from 'node:timers/promises';
import type { Postmaster } from './process';

export interface Supervisor {
  /** The postmaster that runs, or ran last. */
  readonly current: Postmaster;
  /** Stops supervising; resolves when a restart under way has ended. */
  suspend(): Promise<void>;
  /** Supervises this one from now on. */
  resume(postmaster: Postmaster): void;
}

export interface SupervisorOptions {
  start(): Promise<Postmaster>;
  /** Gets a line when it ended, when a restart failed, and when it runs again. Without it there are no restarts. */
  readonly onLine: ((line: string) => void) | undefined;
}

const pauseAfterFailure = 1_000;

/**
 * Restarts PostgreSQL whenever it ends unexpectedly, as a managed database does: after a crash, a kill, a full disk. When
 * the restart fails, it tries again every second.
 */
export function supervise(first: Postmaster, { start, onLine }: SupervisorOptions): Supervisor {
  let current = first;
  let suspended = false;
  let restarting = Promise.resolve();

  function watch(postmaster: Postmaster): void {
    current = postmaster;
    postmaster.child.once('exit', (code, signal) => {
      if (suspended || !onLine || current !== postmaster) return;
      onLine(`PostgreSQL ended by itself (${signal ?? `exit code ${code}`}) and is started again`);
      restarting = restart(onLine);
    });
  }

  async function restart(tell: (line: string) => void): Promise<void> {
    for (let attempt = 1; !suspended; attempt += 1) {
      try {
        watch(await start());
        return tell('PostgreSQL runs again');
      } catch (error) {
        if (attempt === 1) tell((error as Error).message);
      }
      await sleep(pauseAfterFailure);
    }
  }

  watch(first);
  return {
    get current() {
      return current;
    },
    suspend() {
      suspended = true;
      return restarting;
    },
    resume(postmaster) {
      suspended = false;
      watch(postmaster);
    },
  };
}
