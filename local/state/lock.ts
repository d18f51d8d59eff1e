import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, startOf } from '../processes';

/** A state folder that only this process uses. */
export interface StateLock {
  /** Frees the folder for the next start. */
  release(): void;
}

/** Another process runs on the same state folder. */
export class StateInUse extends Error {
  override readonly name = 'StateInUse';
  constructor(
    readonly pid: number,
    directory: string,
  ) {
    super(
      `A local environment already runs on ${directory}: process ${pid}. ` +
        `Stop it (Ctrl-C, or kill ${pid}), or start this one on another folder with --state DIR.`,
    );
  }
}

interface Holder {
  readonly pid: number;
  /** When it began: tells it from a later process with the same number. */
  readonly begun: string;
}

/** The lock of a state folder. */
export const lockFile = (directory: string): string => join(directory, 'lock');

/** The process that runs on a state folder now; undefined when there is none. */
export function lockHolder(directory: string): number | undefined {
  const holder = read(lockFile(directory));
  return holder && holds(holder) ? holder.pid : undefined;
}

/**
 * Takes a state folder for this process. The lock of a process that was killed is taken over.
 *
 * @throws StateInUse when a living process has it
 */
export function lockState(directory: string): StateLock {
  const file = lockFile(directory);
  const own: Holder = { pid: process.pid, begun: startOf(process.pid) ?? '' };
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(own));
  try {
    while (!tryLink(draft, file)) {
      const holder = read(file);
      if (holder && holds(holder)) throw new StateInUse(holder.pid, directory);
      removeDead(file, directory);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return {
    release() {
      if (read(file)?.pid === process.pid) rmSync(file, { force: true });
    },
  };
}

/** A link makes the lock appear whole, and for one of several processes that try at the same moment. */
function tryLink(from: string, to: string): boolean {
  return unless('EEXIST', () => linkSync(from, to));
}

/** Removes a dead lock; puts it back when a third process has taken the folder over in the meantime. */
function removeDead(file: string, directory: string): void {
  const aside = `${file}.dead.${process.pid}`;
  if (!unless('ENOENT', () => renameSync(file, aside))) return;
  const holder = read(aside);
  const alive = holder !== undefined && holds(holder);
  if (alive) tryLink(aside, file);
  rmSync(aside, { force: true });
  if (alive) throw new StateInUse(holder.pid, directory);
}

/** False when the work fails with this code. */
function unless(code: string, work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return false;
    throw error;
  }
}

function read(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

/** Whether the holder lives: where the system does not tell when a process began, its number must do. */
const holds = ({ pid, begun }: Holder): boolean => isAlive(pid) && (startOf(pid) ?? begun) === begun;
