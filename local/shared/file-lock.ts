import { closeSync, openSync } from 'node:fs';

/**
 * Locks a file until the last process that has the descriptor closes it or ends, however it ends. Another container on
 * the same folder sees this, unlike a process id. https://man7.org/linux/man-pages/man2/F_OFD_SETLK.2const.html
 *
 * @returns the descriptor, `held` if another one has the lock, or `unsupported` on this machine or file system
 */
export function tryLockFile(file: string): number | 'held' | 'unsupported' {
  const descriptor = openSync(file, 'a+', 0o600);
  let locked: boolean | undefined;
  try {
    const { tryLock } = require('fs-native-extensions') as { tryLock(descriptor: number): boolean };
    locked = tryLock(descriptor);
  } catch {
    // No binary for this machine (such as Alpine), or a network file system without locks.
  }
  if (locked) return descriptor;
  closeSync(descriptor);
  return locked === undefined ? 'unsupported' : 'held';
}
