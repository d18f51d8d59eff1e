import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { groupBy } from '../harness/group-by';
import { median } from '../harness/statistics';

/** What a process holds after its garbage was collected. Bytes. */
export interface MemorySample {
  /** A function's name, or `npm start`. */
  readonly name: string;
  readonly pid: number;
  /** By objects of JavaScript and by what they own outside its heap, such as buffers. */
  readonly held: number;
  /** All memory that the system has given it. */
  readonly resident: number;
}

/** One process over time. */
export interface MemoryCourse {
  readonly name: string;
  readonly pid: number;
  readonly samples: readonly MemorySample[];
}

/** Milliseconds in which every process has looked whether it is asked, and answered. */
const answerTime = 1_000;

/** Asks every process of the environments for its memory, through files in the control folder. */
export class MemoryWatch {
  private looks = 0;
  private readonly taken: MemorySample[] = [];

  constructor(private readonly control: string) {}

  async look(): Promise<void> {
    this.looks += 1;
    const file = join(this.control, 'look');
    await writeFile(`${file}.part`, String(this.looks));
    await rename(`${file}.part`, file);
    await sleep(answerTime);
    const answers = (await readdir(this.control)).filter(
      (name) => name.startsWith(`${this.looks}-`) && name.endsWith('.json'),
    );
    for (const name of answers) {
      this.taken.push(JSON.parse(await readFile(join(this.control, name), 'utf8')) as MemorySample);
    }
  }

  courses(): readonly MemoryCourse[] {
    return [...groupBy(this.taken, ({ pid }) => pid)].map(([pid, samples]) => ({
      name: samples[0]?.name ?? '',
      pid,
      samples,
    }));
  }
}

/** Looks at a process, at least, for its growth to be judged: those that came for a burst go again. */
export const enoughLooks = 6;

/** What may come on top of an earlier median before it is growth: both a ratio and bytes. */
interface Allowance {
  readonly ratio: number;
  readonly bytes: number;
}

const mebibyte = 2 ** 20;
/** What V8 itself keeps for code that has become hot, seen in idle processes too. */
const heldAllowance: Allowance = { ratio: 1.1, bytes: 2 * mebibyte };
/**
 * What allocators keep of what was freed is not given back at once, and a burst on a busy machine takes more of it. In
 * runs without a leak, no process came to more than 3 MiB.
 */
const residentAllowance: Allowance = { ratio: 1.15, bytes: 16 * mebibyte };

/** Medians over the third of the looks before the last third, and over the last. Bytes. */
export interface Growth {
  readonly before: number;
  readonly after: number;
  readonly isGrowing: boolean;
}

export interface JudgedProcess {
  readonly name: string;
  readonly pid: number;
  readonly held: Growth;
  readonly resident: Growth;
}

/**
 * Whether the medians of the last third of a process's looks are above those of the third before it by more than is
 * allowed. Caches and connections are made in the first third. Processes with too few looks are left out.
 */
export const judge = (courses: readonly MemoryCourse[]): readonly JudgedProcess[] =>
  courses
    .filter(({ samples }) => samples.length >= enoughLooks)
    .map(({ name, pid, samples }) => ({
      name,
      pid,
      held: growth(samples, 'held', heldAllowance),
      resident: growth(samples, 'resident', residentAllowance),
    }));

function growth(
  samples: readonly MemorySample[],
  kind: 'held' | 'resident',
  { ratio, bytes }: Allowance,
): Growth {
  const values = samples.map((sample) => sample[kind]);
  const third = Math.floor(values.length / 3);
  const before = median(values.slice(-2 * third, -third));
  const after = median(values.slice(-third));
  return { before, after, isGrowing: after > before * ratio && after > before + bytes };
}
