import { createHash, randomUUID } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot, synthesize } from './synthesis';

/** The stacks' sources. The last one lists the installed packages. A test synthesizes from these alone. */
export const sources = [
  'bin',
  'cli',
  'dashboard',
  'domain',
  'lambda',
  'lib',
  'cdk.json',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'node_modules/.package-lock.json',
] as const;

export interface AssemblyCacheOptions {
  /** The assembly's folder. Not for concurrent use. */
  readonly directory: string;
  /** Aborts a synthesis. */
  readonly signal: AbortSignal;
  /** Called with progress messages. */
  readonly onStep?: (step: string) => void;
  /** Root of the sources. @default - this project */
  readonly root?: string;
}

/** Digests of an assembly's sources and of the assembly itself. */
const digestsFile = 'digests.json';

/**
 * Synthesizes the stacks into `directory`, or reuses the assembly there if it is undamaged and the sources are unchanged.
 *
 * @throws StartError with the app's output
 */
export async function provideAssembly(options: AssemblyCacheOptions): Promise<void> {
  const { directory, signal, onStep = () => undefined, root = projectRoot } = options;
  const sourcesDigest = () => `${process.version} ${digest(root, sources)}`;
  const digests = (assembly: string, ofSources: string) =>
    JSON.stringify([
      ofSources,
      digest(
        assembly,
        readdirSync(assembly)
          .sort()
          .filter((name) => name !== digestsFile),
      ),
    ]);
  const before = sourcesDigest();
  const stored = join(directory, digestsFile);
  if (existsSync(stored) && readFileSync(stored, 'utf8') === digests(directory, before)) {
    return onStep('The synthesized stacks are up to date');
  }
  onStep('Synthesizing the stacks');
  const unfinished = `${directory}.new`;
  try {
    await synthesize(unfinished, signal, { root });
    // If sources changed meanwhile, the assembly may contain only some of the changes.
    if (sourcesDigest() === before) writeFileSync(join(unfinished, digestsFile), digests(unfinished, before));
    rmSync(directory, { recursive: true, force: true });
    renameSync(unfinished, directory);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  onStep('Synthesized the stacks');
}

/** A digest of names and contents; never the same if anything but files, such as a link, is found. */
function digest(root: string, names: readonly string[]): string {
  const hash = createHash('sha256');
  function add(path: string): void {
    const entry = lstatSync(join(root, path), { throwIfNoEntry: false });
    if (entry?.isDirectory()) {
      for (const child of readdirSync(join(root, path)).sort()) add(join(path, child));
    } else if (entry) {
      const content = entry.isFile() ? readFileSync(join(root, path)) : randomUUID();
      hash.update(JSON.stringify([path, content.length])).update(content);
    }
  }
  for (const name of names) add(name);
  return hash.digest('hex');
}
