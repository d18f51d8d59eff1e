import {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isAlive } from '../shared/processes';
import { StartError } from '../shared/start-error';
import { type StateFolder, stateFolder } from './paths';

/** A state folder locked by this process. */
export interface State extends StateFolder {
  /** Unlocks the folder. */
  close(): void;
}

/** Marks a folder whose files we may overwrite and delete. */
const markerFile = '.wallet-state';
const markerText =
  'npm start stores its state in this folder, and overwrites and deletes files. Do not put other files here.\n';

/**
 * Opens and locks a state folder, and creates it if absent.
 *
 * @throws StartError if it cannot be created, contains other files, or is in use by a running process
 */
export function openState(directory: string): State {
  try {
    createFolder(directory);
    const names = readdirSync(directory).sort();
    if (names.length > 0 && !names.includes(markerFile)) {
      throw new Error(
        `${directory} contains other files (such as ${names[0]}), and npm start overwrites and deletes files`,
      );
    }
    writeFileSync(join(directory, markerFile), markerText);
    return { ...stateFolder(directory), close: lock(directory) };
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${(error as Error).message}. Choose another state folder with --state DIR.`);
  }
}

/** Not `mkdir` with `recursive`: it never returns below a folder without subfolders, such as `/proc`. */
function createFolder(path: string): void {
  if (existsSync(path)) return;
  createFolder(dirname(path));
  mkdirSync(path);
}

/** The id of the running process that holds a lock. In a new container, this process may have the id of a killed one. */
function holderOf(link: string): number | undefined {
  const pid = pidIn(link);
  return pid !== undefined && pid !== process.pid && isAlive(pid) ? pid : undefined;
}

function pidIn(link: string): number | undefined {
  try {
    return Number(readlinkSync(link));
  } catch {
    return undefined;
  }
}

/**
 * A dangling symbolic link to the holder's process id, because creating one is atomic. Replaces the lock of a process that
 * no longer runs.
 *
 * @returns a function that releases the lock
 */
function lock(directory: string): () => void {
  const file = join(directory, 'lock');
  while (!succeeds('EEXIST', () => symlinkSync(String(process.pid), file))) {
    const pid = holderOf(file);
    if (pid !== undefined) {
      throw new StartError(
        `A local environment is already running in ${directory}: process ${pid}. Stop it (Ctrl-C, or kill ${pid}), ` +
          `or use another folder with --state DIR. If process ${pid} is another program, delete ${file}.`,
      );
    }
    const aside = `${file}.${process.pid}`;
    if (!succeeds('ENOENT', () => renameSync(file, aside))) continue;
    // Another start may have replaced the lock meanwhile: put it back.
    if (holderOf(aside) === undefined) rmSync(aside);
    else renameSync(aside, file);
  }
  return () => {
    // The folder may have been deleted, and be in use by another start.
    if (pidIn(file) === process.pid) rmSync(file);
  };
}

/** Returns false if `work` fails with this code. */
function succeeds(code: string, work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return false;
    throw error;
  }
}
