import { openLocalDatabase } from '../../support/local-database';
import type { Place, World } from '../world';

/** A kind of fault. */
export interface FaultKind {
  /** As it is named in the report and by `--fault`. */
  readonly name: string;
  /** One environment's, while nothing may be noticed in the others; or of all, as what they share fails. */
  readonly reach: 'one' | 'all';
  /** Whether deletions may be refused while it lasts; otherwise they may not notice it. */
  readonly troublesDeletions: boolean;
  /**
   * Whether a message may be handed to a reader that is gone, and is seen again only after the visibility timeout: by
   * the events queue and by the delivery queue.
   * @default false
   */
  readonly losesReaders?: boolean;
  /** Milliseconds that it lasts, by chance, from and to. */
  readonly lasts: readonly [number, number];
  /** Why it cannot be made on this machine. @default - it can */
  impossible?(world: World): string | undefined;
  /**
   * Begins it in these environments. What it gives ends it.
   * @param random of this fault alone, so that the same seed makes the same faults
   */
  begin(world: World, places: readonly Place[], random: () => number): Promise<() => Promise<void>>;
}

export const databaseOf = (world: World, { name }: Place) =>
  openLocalDatabase(world.environments.local.stateDirectory, name);

/** Does `work` for each place, and gives what undoes it for all. */
export async function inEach(
  places: readonly Place[],
  work: (place: Place) => Promise<() => Promise<void>>,
): Promise<() => Promise<void>> {
  const ends = await Promise.all(places.map(work));
  return async () => void (await Promise.all(ends.map((end) => end())));
}

/** As `process.kill`; a process that has ended meanwhile is fine. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
