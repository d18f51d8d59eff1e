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
import { startOf } from './processes';

/** A problem that a person can solve. The message says how, and needs no stack trace. */
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

/** The paths of everything that local environments store. */
export type StateFolder = ReturnType<typeof stateFolder>;

/** The part of one environment. */
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
    /** A PostgreSQL without data, copied for new environments. */
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
        /** The custom resources of the last start. */
        customResourcesFile: join(own, 'custom-resources.json'),
        /** Values of the secrets. */
        secretsFile: join(own, 'secrets.json'),
        /** The messages of its queues, while it does not run. */
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
 * Opens a folder for the state of this process, and makes it if it is absent.
 *
 * @throws StartError when it cannot be made, holds other files, or a running process uses it
 */
export function openState(directory: string): State {
  try {
    makeFolder(directory);
    const names = readdirSync(directory).sort();
    if (names.length > 0 && !names.includes(mark)) {
      throw new Error(
        `${directory} holds other files (${names[0]}, for one), and npm start overwrites and removes files`,
      );
    }
    writeFileSync(join(directory, mark), markText);
    const close = lock(directory);
    return { ...stateFolder(directory), close };
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(
      `${(error as Error).message}. Give another folder for the state with --state DIR.`,
      2,
    );
  }
}

/** `mkdir`'s own recursion never ends below a folder that takes no others, such as `/proc`. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
}

/** A symbolic link to nothing, since it is created whole and only once: its target is the holder. */
const lockFile = (directory: string) => join(directory, 'lock');

/** A later process may have the same id, but not the same start. */
const holderOf = (pid: number) => `${pid} ${startOf(pid)}`;

/** The id of the process that runs on a state folder; undefined when there is none. */
export const lockHolder = (directory: string): number | undefined => runningHolder(lockFile(directory));

function runningHolder(file: string): number | undefined {
  try {
    const holder = readlinkSync(file);
    const pid = Number.parseInt(holder, 10);
    return holderOf(pid) === holder ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** @returns what releases the lock */
function lock(directory: string): () => void {
  const file = lockFile(directory);
  const own = holderOf(process.pid);
  while (!succeeds('EEXIST', () => symlinkSync(own, file))) {
    const pid = runningHolder(file);
    if (pid !== undefined) {
      throw new StartError(
        `A local environment already runs on ${directory}: process ${pid}. ` +
          `Stop it (Ctrl-C, or kill ${pid}), or start this one on another folder with --state DIR.`,
      );
    }
    const aside = `${file}.${process.pid}`;
    if (!succeeds('ENOENT', () => renameSync(file, aside))) continue;
    // Another start may have replaced the lock meanwhile: then it is put back.
    if (runningHolder(aside) !== undefined) succeeds('EEXIST', () => symlinkSync(readlinkSync(aside), file));
    rmSync(aside);
  }
  return () => {
    if (runningHolder(file) === process.pid) rmSync(file);
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
