import { createHash, randomUUID } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot, synthesize } from './synthesis';

/**
 * What the stacks are made of, by the names in the project: `npm` records in the last one what is installed. A test
 * synthesizes from these alone.
 */
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

export interface KeptAssemblyOptions {
  /** Of the assembly. Only one process at a time may use it. */
  readonly directory: string;
  /** Aborts a synthesis. */
  readonly signal: AbortSignal;
  /** Whether to synthesize in any case. @default false */
  readonly anew?: boolean;
  /** Is told that the app is run: it takes seconds. */
  readonly onSynthesis?: () => void;
  /** The folder of the sources. @default - this project */
  readonly root?: string;
}

/** Lies in an assembly. What it was made of, and what it consisted of then: digests of both. */
interface Provenance {
  readonly sources: string;
  readonly assembly: string;
}

const provenanceFile = 'provenance.json';

/**
 * Leaves in `directory` the assembly of the sources as they are. The one that is there stays if it is whole and was made of
 * the very same ones; otherwise the app is run.
 *
 * @returns whether it stayed
 * @throws SynthesisFailed with the app's output
 */
export async function keepAssembly(options: KeptAssemblyOptions): Promise<boolean> {
  const { directory, signal, anew = false, onSynthesis, root = projectRoot } = options;
  const made = sourcesDigest(root);
  if (!anew && isOf(directory, made)) return true;
  onSynthesis?.();
  const unfinished = `${directory}.new`;
  try {
    await synthesize(unfinished, signal, { root });
    // Sources that changed meanwhile may be in it in part.
    if (sourcesDigest(root) === made) {
      const provenance: Provenance = { sources: made, assembly: assemblyDigest(unfinished) };
      writeFileSync(join(unfinished, provenanceFile), JSON.stringify(provenance));
    }
    rmSync(directory, { recursive: true, force: true });
    renameSync(unfinished, directory);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return false;
}

/** The synthesis gets no other setting than these, and Node.js. */
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

function isOf(directory: string, made: string): boolean {
  try {
    const provenance = JSON.parse(readFileSync(join(directory, provenanceFile), 'utf8')) as Provenance;
    return provenance.sources === made && provenance.assembly === assemblyDigest(directory);
  } catch {
    // There is none, or it is damaged.
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

/** Of names and contents. What is no file, such as a link out of the folder, has another one every time. */
function digestOf(root: string, files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) {
    const path = join(root, file);
    const content = lstatSync(path).isFile() ? readFileSync(path) : randomUUID();
    hash.update(JSON.stringify([file, content.length])).update(content);
  }
  return hash.digest('hex');
}
