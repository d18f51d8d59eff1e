import type { Clock } from './clock';
import type { Invariants } from './invariants';
import type { Service, WorldOptions } from './options';

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
 * Decides by its name whether a fault happens during the days of the world: `killed after record d-1 #2`. So a story keeps its
 * other faults when one of them is taken out.
 */
export class Faults {
  readonly happened: string[] = [];
  private readonly counts = new Map<string, number>();
  private readonly met = new Map<string, number>();
  private readonly start: number;
  readonly end: number;

  constructor(
    private readonly options: WorldOptions,
    private readonly only: ReadonlySet<string> | undefined,
    private readonly clock: Clock,
    private readonly invariants: Invariants,
    readonly random = createRandom(options.seed),
  ) {
    this.start = clock.now;
    this.end = clock.now + options.days * 86_400_000;
  }

  /** @param subjects the deliveries or events that the fault would affect: one is enough, and all are affected */
  happen(kind: FaultKind, place: string, subjects: readonly string[]): boolean {
    const { only, clock, random, options, invariants, counts, met } = this;
    if (clock.now > this.end) return false;
    const isOnce = kind === 'poisonous';
    const names = subjects.map((subject) => {
      const name = `${kind} ${place} ${subject}`;
      if (isOnce) return name;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      return `${name} #${counts.get(name)}`;
    });
    const isSpared = !isOnce && subjects.some((subject) => (met.get(subject) ?? 0) >= mostFaults);
    if (isSpared && !only) return false;
    const probability = (options.probabilities[kind] ?? 0) * (isRare(place) ? 10 : 1);
    if (!names.some((name) => only?.has(name) ?? random(name) < probability)) return false;
    for (const [index, subject] of subjects.entries()) {
      met.set(subject, (met.get(subject) ?? 0) + 1);
      invariants.fault(subject);
      this.happened.push(names[index] ?? '');
      invariants.tell(subject, `FAULT ${names[index]}`);
    }
    return true;
  }

  /** Whether an outage of ours is under way. */
  isDown(service: Service): boolean {
    const hours = (this.clock.now - this.start) / 3_600_000;
    const { outages } = this.options;
    return (
      this.clock.now < this.end &&
      outages.some((outage) => outage.service === service && hours >= outage.from && hours < outage.to)
    );
  }
}
