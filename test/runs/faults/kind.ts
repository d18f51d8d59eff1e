import type { TroubledPlace, World } from './world';

/** A kind of fault. */
export interface FaultKind {
  /** As it is named in the report and by `--fault`. */
  readonly name: string;
  /** In one environment, which the others must not notice, or in all, as what they share fails. */
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
   * Begins it and gives what ends it.
   * @param place the environment of a fault that reaches one
   * @param random of this fault alone, so that the same seed makes the same faults
   */
  begin(world: World, place: TroubledPlace, random: () => number): Promise<() => Promise<void>>;
}

/** As `process.kill`; a process that has ended meanwhile is fine. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
