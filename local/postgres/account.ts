import { execFileSync, spawn } from 'node:child_process';
import { chown } from 'node:fs/promises';

/**
 * The account of PostgreSQL, as options of `spawn`. PostgreSQL refuses to run as root, and `initdb` needs an account
 * in the list of users. Empty: the account of this process.
 */
export type Account =
  | { readonly uid: number; readonly gid: number }
  | { readonly uid?: never; readonly gid?: never };

const unprivileged = 'nobody';

/**
 * Asked for once: a process that holds much memory takes long to start another.
 *
 * @throws Error when this process runs as root on a system without the account `nobody`.
 */
export function postgresAccount(): Account {
  account ??= findAccount();
  return account;
}

let account: Account | undefined;

function findAccount(): Account {
  if (process.getuid?.() !== 0) return {};
  const script = `id -u ${unprivileged} && id -g ${unprivileged}`;
  try {
    const ids = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8', stdio: 'pipe' });
    // macOS prints the ids of nobody as 4294967294; spawn takes signed 32-bit numbers only.
    const [uid = 0, gid = 0] = ids.split('\n').map((id) => Number(id) | 0);
    return { uid, gid };
  } catch (cause) {
    throw new Error(
      `PostgreSQL does not run as root, and there is no account '${unprivileged}' to run it as. Run this command as an ordinary user.`,
      { cause },
    );
  }
}

/** `output` is stdout and stderr together; `code` is null when the program did not start or was killed. */
export interface ProgramResult {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a program as `account` to its end; not in the current folder, which may be closed to that account. */
export function runAs(
  account: Account,
  program: string,
  args: readonly string[],
  cwd = '/',
): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      ...account,
      cwd,
      env: postgresEnvironment,
      stdio: ['ignore', 'pipe', 'pipe'],
      // Ctrl-C in a terminal reaches the whole process group, and would make the program look failed.
      detached: true,
    });
    const output: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
    child.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EACCES' || error.code === 'ENOENT'
        ? resolve({ code: null, output: error.message })
        : reject(cannotRunAs(account, error)),
    );
    child.on('close', (code) => resolve({ code, output: Buffer.concat(output).toString() }));
  });
}

/** PostgreSQL's programs see nothing of this process's environment, so that no `PG…` variable changes them. */
export const postgresEnvironment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

function cannotRunAs(account: Account, cause: NodeJS.ErrnoException): Error {
  if (account.uid === undefined) return cause;
  return new Error(
    `PostgreSQL does not run as root, and this process may not start a program as '${unprivileged}' (${cause.code}). Run this command as an ordinary user.`,
    { cause },
  );
}

/**
 * Makes `account` the owner of `path`.
 *
 * @throws Error on a file system that keeps no owners, such as some that are shared with another machine.
 */
export async function chownTo(account: Account, path: string): Promise<void> {
  if (account.uid === undefined) return;
  // chown takes unsigned numbers, where spawn takes signed ones.
  await chown(path, account.uid >>> 0, account.gid >>> 0).catch((cause) => {
    throw new Error(
      `PostgreSQL does not run as root, and ${path} cannot be given to '${unprivileged}', who is to run it (${cause.code}). Use a state folder on a local disk, or run this command as an ordinary user.`,
      { cause },
    );
  });
}
