import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { isAlive, startOf } from './processes';

/** A problem that a person can solve: its message says how, and needs no stack trace. */
export class StartError extends Error {
  override readonly name = 'StartError';
  /** @param exitCode 1: it failed; 2: used wrongly */
  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
  ) {
    super(message);
  }
}

/** Where local environments keep everything between runs. */
export type StateFolder = ReturnType<typeof stateFolder>;

/** The part of one environment: it shares nothing with another's. */
export type EnvironmentFolder = ReturnType<StateFolder['environment']>;

export function stateFolder(directory: string) {
  return {
    directory,
    /** In the shape of `cdk deploy --outputs-file`; there only while the environments run. */
    outputsFile: join(directory, 'outputs.json'),
    /** Where an AWS SDK finds the local services; there only while the environments run. */
    endpointsFile: join(directory, 'endpoints.json'),
    /** A folder for each environment. */
    logsDirectory: join(directory, 'logs'),
    /** The synthesized stacks. */
    assemblyDirectory: join(directory, 'cdk.out'),
    /** A PostgreSQL without data, with which new environments begin. */
    emptyClusterDirectory: join(directory, 'empty-cluster'),
    environmentsDirectory: join(directory, 'environments'),
    certificatesDirectory: join(directory, 'certificates'),
    /** Copies of the folders of databases, for environments that are restored. */
    snapshotsDirectory: join(directory, 'snapshots'),
    environment: (name: string) => {
      const own = join(directory, 'environments', name);
      return {
        directory: own,
        databaseDirectory: join(own, 'postgres'),
        keysDirectory: join(own, 'keys'),
        /** Custom resources as they were last applied. */
        customResourcesFile: join(own, 'custom-resources.json'),
        /** Values of the secrets. */
        secretsFile: join(own, 'secrets.json'),
        /** The messages of its queues, from an orderly end to the next start. */
        messagesFile: join(own, 'messages.json'),
        logsDirectory: join(directory, 'logs', name),
      };
    },
  } as const;
}

/** A state folder that only this process uses. */
export interface State extends StateFolder {
  /** Frees the folder for the next start. */
  close(): void;
}

/** Marks a folder whose files are ours to overwrite and to remove. */
const mark = '.wallet-state';
const markText =
  'npm start keeps its state in this folder, and overwrites and removes files. Keep nothing else here.\n';

/**
 * Takes a folder for the state of this process; made when absent.
 *
 * @throws StartError when it cannot be made, holds other files, or a living process has it
 */
export function openState(directory: string): State {
  const names = orRefuse(() => {
    makeFolder(directory);
    return readdirSync(directory);
  });
  if (names.length > 0 && !names.includes(mark)) {
    refuse(
      `${directory} holds other files (${names.sort()[0]}, for one), and npm start overwrites and removes files.`,
    );
  }
  orRefuse(() => writeFileSync(join(directory, mark), markText));
  const close = lock(directory);
  return { ...stateFolder(directory), close };
}

function refuse(reason: string): never {
  throw new StartError(`${reason} Give another folder for the state with --state DIR.`, 2);
}

function orRefuse<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    refuse(`${(error as Error).message}.`);
  }
}

/** `mkdir`'s own recursion never ends below a folder that takes no others, such as `/proc`. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
}

interface Holder {
  readonly pid: number;
  /** When it began: tells it from a later process with the same number. */
  readonly begun: string;
}

const lockFile = (directory: string) => join(directory, 'lock');

/** The process that runs on a state folder now; undefined when there is none. */
export const lockHolder = (directory: string): number | undefined => livingHolder(lockFile(directory));

function livingHolder(file: string): number | undefined {
  try {
    const { pid, begun } = JSON.parse(readFileSync(file, 'utf8')) as Holder;
    // Where the system does not tell when a process began, its number must do.
    return isAlive(pid) && (startOf(pid) ?? begun) === begun ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** @returns what releases the lock */
function lock(directory: string): () => void {
  const file = lockFile(directory);
  const draft = `${file}.${process.pid}`;
  const aside = `${file}.dead.${process.pid}`;
  const own: Holder = { pid: process.pid, begun: startOf(process.pid) ?? '' };
  orRefuse(() => writeFileSync(draft, JSON.stringify(own)));
  try {
    // A link makes the lock appear whole, and for one of several processes that try at once.
    while (!succeeds('EEXIST', () => linkSync(draft, file))) {
      const pid = livingHolder(file);
      if (pid !== undefined) {
        throw new StartError(
          `A local environment already runs on ${directory}: process ${pid}. ` +
            `Stop it (Ctrl-C, or kill ${pid}), or start this one on another folder with --state DIR.`,
        );
      }
      if (!succeeds('ENOENT', () => renameSync(file, aside))) continue;
      // Another start may have replaced the dead lock since it was read: that one is put back.
      if (livingHolder(aside) !== undefined) succeeds('EEXIST', () => linkSync(aside, file));
      rmSync(aside);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  return () => {
    if (livingHolder(file) === process.pid) rmSync(file);
  };
}

/** False when the work fails with this code. */
function succeeds(code: string, work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === code) return false;
    throw error;
  }
}

/** Writes a JSON document so that a reader sees the old one or the new one, never a part. Only the owner may read it. */
export function writeJson(file: string, document: unknown): void {
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(document, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}

/** Reads a JSON document; undefined when there is none. */
export function readJson<T>(file: string): T | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch {
    throw new StartError(
      `${file} is damaged. Start over with --fresh, which also removes the environment's data: they depend on this file.`,
    );
  }
}
