import { createHash, randomUUID } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot, synthesize } from './synthesis';

/** The sources of the stacks; npm records what is installed in the last one. A test synthesizes from these alone. */
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
  /** Of the assembly. Only one process at a time may use it. */
  readonly directory: string;
  /** Aborts a synthesis. */
  readonly signal: AbortSignal;
  /** Gets a line for a person before and after. */
  readonly onStep?: (step: string) => void;
  /** The folder of the sources. @default - this project */
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
    return onStep('The stacks are unchanged since they were synthesized');
  }
  onStep('Synthesizing the stacks');
  const unfinished = `${directory}.new`;
  try {
    await synthesize(unfinished, signal, { root });
    // If sources changed meanwhile, the assembly may have only some of the changes.
    if (sourcesDigest() === before) writeFileSync(join(unfinished, digestsFile), digests(unfinished, before));
    rmSync(directory, { recursive: true, force: true });
    renameSync(unfinished, directory);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  onStep('Synthesized the stacks');
}

/** Of names and contents. Anything but a file, such as a link out of the folder, changes it every time. */
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
