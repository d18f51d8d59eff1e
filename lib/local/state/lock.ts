import { execFileSync } from 'node:child_process';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A state folder that this process alone uses. */
export interface StateLock {
  /** Lets the next start have the folder. */
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
  /** Tells the holder from a later process that got the same number. */
  readonly begun: string;
}

/** Where the lock of a state folder lies. */
export const lockFile = (directory: string): string => join(directory, 'lock');

/** The process that runs on a state folder now; undefined when there is none. */
export function lockHolder(directory: string): number | undefined {
  const holder = read(lockFile(directory));
  return holder && isAlive(holder) ? holder.pid : undefined;
}

/**
 * Takes a state folder for this process. The lock of a process that was killed is taken over.
 *
 * @throws StateInUse when a living process has it
 */
export function lockState(directory: string): StateLock {
  const file = lockFile(directory);
  const own: Holder = { pid: process.pid, begun: beginOf(process.pid) ?? '' };
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify(own));
  try {
    while (!tryLink(draft, file)) {
      const holder = read(file);
      if (holder && isAlive(holder)) throw new StateInUse(holder.pid, directory);
      takeAway(file, directory);
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

/** Links make the lock appear whole and only once, whoever else tries at the same moment. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes a dead lock; puts it back when a third process has taken the folder over in the meantime. */
function takeAway(file: string, directory: string): void {
  const aside = `${file}.dead.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const holder = read(aside);
  const alive = holder !== undefined && isAlive(holder);
  if (alive) tryLink(aside, file);
  rmSync(aside, { force: true });
  if (alive) throw new StateInUse(holder.pid, directory);
}

function read(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

function isAlive({ pid, begun }: Holder): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives, and belongs to somebody else.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const present = beginOf(pid);
  return present === undefined || present === begun;
}

/** When a process began, in whatever form the system tells it; undefined when it does not. */
function beginOf(pid: number): string | undefined {
  try {
    // Field 22 is the start time; the name in field 2 may hold spaces. Source: proc_pid_stat(5).
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')[19];
  } catch {
    return fromPs(pid);
  }
}

function fromPs(pid: number): string | undefined {
  try {
    const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env,
      stdio: 'pipe',
    }).trim();
  } catch {
    return undefined;
  }
}
