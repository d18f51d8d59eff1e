import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isAlive } from './processes';

/** An error that the user can fix: the message explains how, and no stack trace is printed. */
export class StartError extends Error {
  override readonly name = 'StartError';
  /** @param exitCode 1: failed; 2: usage error */
  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
  ) {
    super(message);
  }
}

/** Paths in the state folder. */
export type StateFolder = ReturnType<typeof stateFolder>;

/** Paths of one environment. */
export type EnvironmentFolder = ReturnType<StateFolder['environment']>;

export function stateFolder(directory: string) {
  return {
    directory,
    /** In the shape of `cdk deploy --outputs-file`; exists only while the environments run. */
    outputsFile: join(directory, 'outputs.json'),
    /** Endpoints of the local services for AWS SDKs; exists only while the environments run. */
    endpointsFile: join(directory, 'endpoints.json'),
    /** A folder for each environment. */
    logsDirectory: join(directory, 'logs'),
    /** The synthesized stacks. */
    assemblyDirectory: join(directory, 'cdk.out'),
    /** A PostgreSQL without data, the template for new environments. */
    emptyClusterDirectory: join(directory, 'empty-cluster'),
    environmentsDirectory: join(directory, 'environments'),
    certificatesDirectory: join(directory, 'certificates'),
    /** Copies of database folders, to restore from. */
    snapshotsDirectory: join(directory, 'snapshots'),
    environment: (name: string) => {
      const own = join(directory, 'environments', name);
      return {
        directory: own,
        databaseDirectory: join(own, 'postgres'),
        keysDirectory: join(own, 'keys'),
        /** Custom resources as of the last start. */
        customResourcesFile: join(own, 'custom-resources.json'),
        /** Secret values. */
        secretsFile: join(own, 'secrets.json'),
        /** Messages of its queues while it is stopped. */
        messagesFile: join(own, 'messages.json'),
        logsDirectory: join(directory, 'logs', name),
      };
    },
  } as const;
}

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
    const close = lock(directory);
    return { ...stateFolder(directory), close };
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${(error as Error).message}. Choose another state folder with --state DIR.`, 2);
  }
}

/** Not `mkdir` with `recursive`: it never returns below a folder without subfolders, such as `/proc`. */
function createFolder(path: string): void {
  if (existsSync(path)) return;
  createFolder(dirname(path));
  mkdirSync(path);
}

/** A dangling symbolic link to the holder's process id, because creating one is atomic. */
const lockFile = (directory: string) => join(directory, 'lock');
const ownLocks = new Set<string>();

/** The id of the running process that holds a state folder's lock. */
export const lockHolder = (directory: string): number | undefined => holderIn(lockFile(directory), directory);

function holderIn(link: string, directory: string): number | undefined {
  try {
    const pid = Number(readlinkSync(link));
    // In a new container, this process may have the id of a killed one.
    return isAlive(pid) && (pid !== process.pid || ownLocks.has(directory)) ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces the lock of a process that no longer runs. @returns a function that releases the lock */
function lock(directory: string): () => void {
  const file = lockFile(directory);
  while (!succeeds('EEXIST', () => symlinkSync(String(process.pid), file))) {
    const pid = lockHolder(directory);
    if (pid !== undefined) {
      throw new StartError(
        `A local environment is already running in ${directory}: process ${pid}. Stop it (Ctrl-C, or kill ${pid}), ` +
          `or use another folder with --state DIR. If process ${pid} is another program, delete ${file}.`,
      );
    }
    const aside = `${file}.${process.pid}`;
    if (!succeeds('ENOENT', () => renameSync(file, aside))) continue;
    // Another start may have replaced the lock meanwhile: put it back.
    if (holderIn(aside, directory) === undefined) rmSync(aside);
    else renameSync(aside, file);
  }
  ownLocks.add(directory);
  return () => {
    if (ownLocks.delete(directory)) rmSync(file);
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

/** Writes a file atomically. Only the owner may read it. */
export function writeText(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, file);
}

export const writeJson = (file: string, document: unknown): void =>
  writeText(file, `${JSON.stringify(document, null, 2)}\n`);

/** Reads a JSON document; undefined if the file does not exist. */
export function readJson<T>(file: string): T | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    throw new StartError(
      `${file} is damaged. Start over with --fresh, which also deletes the environment's data: it depends on this file.`,
    );
  }
}
