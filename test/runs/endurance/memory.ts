import { readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Checks, median } from '../long-run';

/** Memory of a process after garbage collection, in bytes. */
export interface MemorySample {
  /** A function's name, or `npm start`. */
  readonly name: string;
  readonly pid: number;
  /** JavaScript objects and their external memory, such as buffers. */
  readonly held: number;
  /** Resident set size. */
  readonly rss: number;
}

/** Milliseconds until every process reports. */
const reportTime = 1_000;

/** Asks every process of the environments for its memory, through files in the control folder. */
export async function sampleMemory(control: string, samples: MemorySample[]): Promise<void> {
  const order = String(samples.length + 1);
  const file = join(control, 'memory');
  await writeFile(`${file}.part`, order);
  await rename(`${file}.part`, file);
  await sleep(reportTime);
  for (const name of await readdir(control))
    if (name.startsWith(`${order}-`) && name.endsWith('.json'))
      samples.push(JSON.parse(await readFile(join(control, name), 'utf8')));
}

/** Samples of a process that are needed to detect growth. */
export const enoughSamples = 6;

const mebibyte = 2 ** 20;
/** Growth must exceed both. `held`: V8's memory for hot code. `rss`: allocators free late; observed at most 3 MiB. */
const allowances = {
  held: { ratio: 1.1, bytes: 2 * mebibyte },
  rss: { ratio: 1.15, bytes: 16 * mebibyte },
} as const;

/**
 * Compares the median of the last third of each process's samples with that of the second; caches and connections fill in
 * the first.
 *
 * @returns the rows of a table, in MiB
 */
export function checkMemory(samples: readonly MemorySample[], checks: Checks) {
  const processes = new Map<number, MemorySample[]>();
  for (const sample of samples) processes.set(sample.pid, [...(processes.get(sample.pid) ?? []), sample]);
  return [...processes.values()]
    .filter(({ length }) => length >= enoughSamples)
    .map((own) => {
      const { name, pid } = own[0] as MemorySample;
      const third = Math.floor(own.length / 3);
      const growth = (kind: 'held' | 'rss') => {
        const values = own.map((sample) => sample[kind]);
        const [middle, end] = [median(values.slice(-2 * third, -third)), median(values.slice(-third))];
        const { ratio, bytes } = allowances[kind];
        const isGrowing = end > middle * ratio && end > middle + bytes;
        checks.hold('memory does not grow', isGrowing && `${name} (${pid}), ${kind}: ${middle} to ${end}`);
        return { [`${kind}, middle, MiB`]: middle / mebibyte, [`${kind}, end, MiB`]: end / mebibyte };
      };
      return { process: name, ...growth('held'), ...growth('rss') };
    });
}
