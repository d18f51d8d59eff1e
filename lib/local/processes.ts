import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync, realpathSync } from 'node:fs';

/** The program and arguments of a process; empty when there is none, or it may not be seen. */
export function commandLine(pid: number): string {
  try {
    return process.platform === 'linux'
      ? readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      : execFileSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8', stdio: 'pipe' });
  } catch {
    return '';
  }
}

/**
 * Whether a process is the program that works in `folder`: ids of processes are used again. Where the system does not
 * tell the folder that a process is in (macOS), its arguments must name it.
 */
export function isRunningIn(pid: number, program: string, folder: string): boolean {
  const command = commandLine(pid);
  if (!command.includes(program)) return false;
  if (process.platform !== 'linux') return command.includes(folder);
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(folder);
  } catch {
    return false;
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

/** The processes that `pid` has started: its connections and background workers. */
export function childrenOf(pid: number): number[] {
  try {
    const list =
      process.platform === 'linux'
        ? readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
        : execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8', stdio: 'pipe' });
    return list.split(/\s+/).filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
