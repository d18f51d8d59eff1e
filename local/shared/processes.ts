import { type ChildProcess, execFileSync } from 'node:child_process';
import { readFileSync, writeFile } from 'node:fs';
import { setPriority } from 'node:os';

/** The program and arguments of a process; empty if it does not exist or access is denied. */
export function commandLine(pid: number): string {
  try {
    return process.platform === 'linux'
      ? readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      : execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8', stdio: 'pipe' });
  } catch {
    return '';
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** A fifth of the processor time that a process gets by default. Source: sched_prio_to_weight in Linux' kernel/sched/core.c */
const lowPriority = 7;

/**
 * Lets others go first that somebody waits for. `child` leads a session: Linux shares the processors among sessions first.
 * https://man7.org/linux/man-pages/man7/sched.7.html ("The autogroup feature")
 */
export function yieldToOthers({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  setPriority(pid, lowPriority);
  // Without the feature, there are no sessions to put last.
  writeFile(`/proc/${pid}/autogroup`, String(lowPriority), { flag: 'r+' }, () => undefined);
}
