import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync, realpathSync } from 'node:fs';

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

/**
 * Whether a process runs `program` in `folder`: the system may have reused its id. macOS does not show a process's
 * folder; there, the arguments must contain it.
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

/** A process's start time in the system's own format; undefined if unknown. */
export function startTime(pid: number): string | undefined {
  try {
    if (process.platform !== 'linux') {
      const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
      const args = ['-o', 'lstart=', '-p', String(pid)];
      return execFileSync('ps', args, { encoding: 'utf8', env, stdio: 'pipe' }).trim();
    }
    // Field 22; the name in field 2 may contain spaces. Source: proc_pid_stat(5).
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')[19];
  } catch {
    return undefined;
  }
}
