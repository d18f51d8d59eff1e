import { createHash, randomUUID } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot, synthesize } from './synthesis';

/** What the stacks are made of; npm records in the last one what is installed. A test synthesizes from these alone. */
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
  /** Whether to synthesize in any case. @default false */
  readonly force?: boolean;
  /** Gets a line for a person before and after. */
  readonly onStep?: (step: string) => void;
  /** The folder of the sources. @default - this project */
  readonly root?: string;
}

/** Lies in an assembly: digests of its sources, and of the assembly as it was made. */
interface Provenance {
  readonly sources: string;
  readonly assembly: string;
}

const provenanceFile = 'provenance.json';

/**
 * Synthesizes the stacks into `directory`, unless the assembly there is undamaged and its sources are unchanged.
 *
 * @throws StartError with the app's output
 */
export async function provideAssembly(options: AssemblyCacheOptions): Promise<void> {
  const { directory, signal, force = false, onStep = () => undefined, root = projectRoot } = options;
  const made = sourcesDigest(root);
  if (!force && isCurrent(directory, made)) {
    return onStep('The stacks are unchanged since they were synthesized');
  }
  onStep('Synthesizing the stacks');
  const unfinished = `${directory}.new`;
  try {
    await synthesize(unfinished, signal, { root });
    // If sources changed meanwhile, the assembly may have only some of the changes.
    if (sourcesDigest(root) === made) {
      const provenance: Provenance = { sources: made, assembly: assemblyDigest(unfinished) };
      writeFileSync(join(unfinished, provenanceFile), JSON.stringify(provenance));
    }
    rmSync(directory, { recursive: true, force: true });
    renameSync(unfinished, directory);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  onStep('Synthesized the stacks');
}

/** The synthesis depends on nothing else. */
function sourcesDigest(root: string): string {
  const files = sources.flatMap((name) => filesOf(root, name));
  return `${process.version} ${digestOf(root, files)}`;
}

function assemblyDigest(directory: string): string {
  return digestOf(
    directory,
    filesOf(directory, '.').filter((file) => file !== provenanceFile),
  );
}

function isCurrent(directory: string, made: string): boolean {
  try {
    const provenance = JSON.parse(readFileSync(join(directory, provenanceFile), 'utf8')) as Provenance;
    return provenance.sources === made && provenance.assembly === assemblyDigest(directory);
  } catch {
    // Absent or damaged.
    return false;
  }
}

/** The paths of a file, or of all files below a folder, always in the same order; none when it is absent. */
function filesOf(root: string, name: string): string[] {
  const entry = lstatSync(join(root, name), { throwIfNoEntry: false });
  if (!entry) return [];
  if (!entry.isDirectory()) return [name];
  return readdirSync(join(root, name))
    .sort()
    .flatMap((child) => filesOf(root, join(name, child)));
}

/** Of names and contents. Anything but a file, such as a link out of the folder, changes it every time. */
function digestOf(root: string, files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) {
    const path = join(root, file);
    const content = lstatSync(path).isFile() ? readFileSync(path) : randomUUID();
    hash.update(JSON.stringify([file, content.length])).update(content);
  }
  return hash.digest('hex');
}
