import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { tryLockFile } from '../shared/file-lock';
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
 * @param warn called if another container's start on the folder would not be noticed
 * @throws StartError if it cannot be created, contains other files, or is in use by a running process
 */
export function openState(directory: string, warn: (text: string) => void = () => undefined): State {
  try {
    createFolder(directory);
    const names = readdirSync(directory).sort();
    if (names.length > 0 && !names.includes(markerFile)) {
      throw new Error(
        `${directory} contains other files (such as ${names[0]}), and npm start overwrites and deletes files`,
      );
    }
    return { ...stateFolder(directory), close: lock(directory, warn) };
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
 * Locks the marker, which also names the holder.
 *
 * @returns a function that releases the lock
 */
function lock(directory: string, warn: (text: string) => void): () => void {
  const marker = join(directory, markerFile);
  const descriptor = tryLockFile(marker);
  if (descriptor === 'held') {
    const [, holder = 'an unknown process'] = /^In use by (.*)$/m.exec(readFileSync(marker, 'utf8')) ?? [];
    throw new StartError(
      `A local environment is already running in ${directory}: ${holder}. Stop it (Ctrl-C, or kill), or use another ` +
        'folder with --state DIR.',
    );
  }
  if (descriptor === 'unsupported') {
    warn(
      `warning: ${directory} cannot be locked against other containers and machines. Do not start environments in it from two.`,
    );
    writeFileSync(marker, markerText);
    return lockByProcessId(directory);
  }
  try {
    // Of a start that could not lock the marker.
    lockByProcessId(directory)();
    writeFileSync(marker, `${markerText}In use by process ${process.pid} on ${hostname()}\n`);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
  return () => {
    // The folder may have been deleted.
    ftruncateSync(descriptor, markerText.length);
    closeSync(descriptor);
  };
}

/**
 * A dangling symbolic link to the holder's process id, because creating one is atomic. Replaces the lock of a process that
 * no longer runs.
 *
 * @returns a function that releases the lock
 */
function lockByProcessId(directory: string): () => void {
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
