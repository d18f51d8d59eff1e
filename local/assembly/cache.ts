import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { projectRoot, synthesize } from './synthesis';

/** The stacks' sources. The last one lists the installed packages. A test synthesizes from these alone. */
export const sources = [
  'bin',
  'dashboard',
  'docs/receivers.md',
  'domain',
  'lambda',
  'lib',
  'cdk.json',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'node_modules/.package-lock.json',
] as const;

/** The file of an assembly that holds the digest of its sources. */
const digestFile = (directory: string): string => join(directory, 'sources.sha256');

interface AssemblyCacheOptions {
  /** The assembly's folder. Not for concurrent use. */
  readonly directory: string;
  /** Aborts a synthesis. */
  readonly signal: AbortSignal;
  /** Called when a synthesis has started. */
  readonly onSynthesis?: () => void;
  /** Root of the sources. @default - this project */
  readonly root?: string;
}

/**
 * Synthesizes the stacks into `directory`, or reuses the assembly there if the sources are unchanged.
 *
 * @throws StartError with the app's output
 */
export async function provideAssembly(options: AssemblyCacheOptions): Promise<void> {
  const { directory, signal, onSynthesis = () => undefined, root = projectRoot } = options;
  const digest = digestOfSources(root);
  const stored = digestFile(directory);
  if (existsSync(stored) && readFileSync(stored, 'utf8') === digest) return;
  // Each process has its own: the app of a killed one may still be writing.
  const draft = `${directory}.new`;
  const unfinished = `${draft}-${process.pid}`;
  const folder = dirname(directory);
  for (const name of existsSync(folder) ? readdirSync(folder) : [])
    if (name.startsWith(basename(draft))) rmSync(join(folder, name), { recursive: true, force: true });
  try {
    const synthesized = synthesize(unfinished, signal, root);
    onSynthesis();
    await synthesized;
    // If sources changed meanwhile, the assembly may contain only some of the changes.
    if (digestOfSources(root) === digest) writeFileSync(digestFile(unfinished), digest);
    rmSync(directory, { recursive: true, force: true });
    renameSync(unfinished, directory);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

/** A digest of names and contents. */
function digestOfSources(root: string): string {
  const hash = createHash('sha256').update(process.version);
  function add(path: string): void {
    const file = join(root, path);
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats?.isDirectory()) {
      for (const name of readdirSync(file).sort()) add(join(path, name));
    } else if (stats) {
      hash.update(`${path} ${stats.size}\0`).update(readFileSync(file));
    }
  }
  for (const name of sources) add(name);
  return hash.digest('hex');
}
