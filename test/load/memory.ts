import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../support/statistics';

/** What a process holds after its garbage was collected. Bytes. */
export interface MemorySample {
  /** A function's name, or `npm start`. */
  readonly name: string;
  readonly pid: number;
  readonly heapUsed: number;
  readonly rss: number;
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
    const byProcess = new Map<number, MemorySample[]>();
    for (const sample of this.taken) {
      byProcess.set(sample.pid, [...(byProcess.get(sample.pid) ?? []), sample]);
    }
    return [...byProcess].map(([pid, samples]) => ({ name: samples[0]?.name ?? '', pid, samples }));
  }
}

/** Looks at a process, at least, for its growth to be judged: those that came for a burst go again. */
export const enoughLooks = 6;
/**
 * A process has grown when the median of the last third of its looks is above that of the third before it by more than
 * a tenth and by more than these bytes: what V8 itself keeps for code that has become hot, seen in idle processes too.
 * The first third is not asked: caches and connections are made then.
 */
const allowance = { ratio: 1.1, bytes: 2 * 2 ** 20 };

export interface Growth {
  /** Medians of `heapUsed`. */
  readonly before: number;
  readonly after: number;
  readonly isGrowing: boolean;
}

/** Undefined for a process that was not looked at often enough. */
export function growthOf({ samples }: MemoryCourse): Growth | undefined {
  if (samples.length < enoughLooks) return undefined;
  const third = Math.floor(samples.length / 3);
  const heap = samples.map(({ heapUsed }) => heapUsed);
  const before = median(heap.slice(-2 * third, -third));
  const after = median(heap.slice(-third));
  const isGrowing = after > before * allowance.ratio && after > before + allowance.bytes;
  return { before, after, isGrowing };
}
