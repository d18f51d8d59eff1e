/** The faults of a world, each with the probability that a call or message meets it. */
export const faultKinds = [
  // The function is killed before or after a call; its batch comes back.
  'killed',
  // A message kills its function each time.
  'poisonous',
  // SQS accepts messages, and the response is lost.
  'response lost',
  'sent twice',
  'send refused',
  'entry refused',
  'hide refused',
  // A message in flight is delivered again.
  'received twice',
  // A message that was done comes back.
  'not deleted',
  'database refused',
  // The database carries out a call, and the response is lost.
  'database answer lost',
  'key refused',
  // A call takes almost as long as it may.
  'slow',
] as const;

export type FaultKind = (typeof faultKinds)[number];

/** A number from 0 to 1 for a text: the same one for the same seed, whatever else happens in the world. */
export function createRandom(seed: number): (text: string) => number {
  return (text) => {
    let hash = 0x811c9dc5 ^ seed;
    for (let index = 0; index < text.length; index++)
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    // The finalizer of MurmurHash3, because similar texts have similar sums.
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
  };
}

/** For each delivery or event: messages that wait would double with each one that is sent twice. */
const mostFaults = 8;

/** Calls that a world makes a few times. */
const isRare = (place: string) => /disable|disabling|find event|to events/.test(place);

/**
 * Decides by its name whether a fault happens: `killed after record d-1 #2`. So a story keeps its other faults when one of
 * them is taken out.
 */
export class Faults {
  /** The names of those that happened. */
  readonly happened: string[] = [];
  private readonly counts = new Map<string, number>();
  private readonly met = new Map<string, number>();
  private ended = false;

  constructor(
    private readonly random: (text: string) => number,
    private readonly probabilities: Readonly<Partial<Record<FaultKind, number>>>,
    /** If given, exactly these happen. */
    private readonly only: ReadonlySet<string> | undefined,
    /** Each fault is told with its subject. */
    private readonly tell: (subject: string, name: string) => void,
  ) {}

  /** @param subjects the deliveries or events that the fault would affect: one is enough, and all are affected */
  happen(kind: FaultKind, place: string, subjects: readonly string[]): boolean {
    if (this.ended) return false;
    const names = subjects.map((subject) => {
      const name = `${kind} ${place} ${subject}`;
      if (kind === 'poisonous') return name;
      const count = (this.counts.get(name) ?? 0) + 1;
      this.counts.set(name, count);
      return `${name} #${count}`;
    });
    const isSpared =
      kind !== 'poisonous' && subjects.some((subject) => (this.met.get(subject) ?? 0) >= mostFaults);
    if (isSpared && !this.only) return false;
    const happens = names.some((name) =>
      this.only
        ? this.only.has(name)
        : this.random(name) < (this.probabilities[kind] ?? 0) * (isRare(place) ? 10 : 1),
    );
    if (!happens) return false;
    this.happened.push(...names);
    for (const subject of subjects) this.met.set(subject, (this.met.get(subject) ?? 0) + 1);
    for (const [index, name] of names.entries()) this.tell(subjects[index] ?? '', name);
    return true;
  }

  end(): void {
    this.ended = true;
  }
}
