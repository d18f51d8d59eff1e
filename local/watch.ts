import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync, statSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestFile, provideAssembly } from './assembly/cache';
import { physicalName, readAssembly, type Stack, servingStacks } from './assembly/manifest';
import type { Services } from './aws/services';
import type { Shared } from './environment';

interface WatchOptions extends Pick<Shared, 'log' | 'signal'> {
  readonly local: Running;
  /** The folder of the assembly. */
  readonly assembly: string;
  /** The folder of `package.json`. */
  readonly root: string;
}

interface Running extends Pick<Services, 'functions'> {
  readonly environments: readonly { readonly stack: Stack }[];
  /** Starts one environment again. */
  restart(stack: Stack): Promise<void>;
}

/**
 * Serves edits of the sources: functions get new code at once, then the stacks are synthesized, and environments whose template has
 * changed start again. What does not compile leaves everything as it was.
 */
export function watchSources({ local, assembly, root, log, signal }: WatchOptions): void {
  const shapes = new Map(local.environments.map(({ stack }) => [stack.environment, shapeOf(stack)]));
  const report = ({ message }: Error) => signal.aborted || log.problem(message);
  const build = startBuilder(root, signal);
  /** One step at a time. */
  let steps: Promise<unknown> = build([]).then(() => log.step('Edits of the sources are served'), report);
  const enqueue = (step: () => Promise<unknown>) => {
    steps = steps.then(step).catch(report);
  };
  let synthesis: Promise<unknown> = Promise.resolve();
  let superseded = new AbortController();
  const edited: string[] = [];
  let delay: NodeJS.Timeout | undefined;

  /** Not recursive: on Linux, Node.js misses changes of a file that an editor has replaced. */
  function watchFolder(folder: string): void {
    watch(join(root, folder), { persistent: false }, (type, name) => {
      const path = `${folder}/${name}`;
      const isFolder = statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory();
      if (type === 'rename' && isFolder) watchFolder(path);
      edited.push(path);
      superseded.abort();
      superseded = new AbortController();
      const isSuperseded = superseded.signal;
      clearTimeout(delay);
      // An editor makes several changes for one edit.
      delay = setTimeout(() => signal.aborted || enqueue(() => serve(isSuperseded)), 50);
    });
    for (const each of readdirSync(join(root, folder), { withFileTypes: true }))
      if (each.isDirectory()) watchFolder(`${folder}/${each.name}`);
  }

  async function serve(isSuperseded: AbortSignal): Promise<void> {
    const changes = await build(edited.splice(0));
    // Until it is synthesized, the assembly is not that of the sources.
    rmSync(digestFile(assembly), { force: true });
    const names = replaceTexts(local, changes);
    if (names.length > 0) log.step(`Serving the edit: ${names.join(', ')}`);
    const options = { directory: assembly, root, signal: AbortSignal.any([signal, isSuperseded]) };
    synthesis = synthesis
      .then(() => provideAssembly(options))
      .then(() => enqueue(() => Promise.all(servingStacks(readAssembly(assembly)).map(apply))))
      .catch((error) => isSuperseded.aborted || report(error));
  }

  async function apply(stack: Stack): Promise<void> {
    const { environment } = stack;
    const shape = shapeOf(stack);
    if (!shapes.has(environment)) return;
    if (shapes.get(environment) === shape) return useAssets(stack, local);
    // After a failure, the next edit starts it again.
    shapes.set(environment, '');
    log.step(`The template of ${environment} has changed: starting it again`);
    await local.restart(stack).then(() => shapes.set(environment, shape), report);
  }

  for (const folder of ['dashboard', 'domain', 'lambda', 'lib']) watchFolder(folder);
}

/** Texts in functions' files and variables, with their replacements. */
type Changes = ReadonlyMap<string, string>;

/** @returns a function that builds what edits of these files change; it throws an Error with the place of what does not compile */
function startBuilder(root: string, signal: AbortSignal): (edited: readonly string[]) => Promise<Changes> {
  const child = fork(join(root, 'bin/bundles.ts'), [], {
    cwd: root,
    execArgv: ['--require', require.resolve('tsx/cjs')],
    // Ctrl-C in a terminal reaches the whole process group.
    ...{ detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ipc'], signal, killSignal: 'SIGKILL' },
  });
  child.on('error', () => undefined);
  const ended = once(child, 'exit').then(() => [{ problem: 'The process that bundles edits has ended.' }]);
  return async (edited) => {
    child.send(edited);
    const [{ changes, problem }] = await Promise.race([once(child, 'message'), ended]);
    if (changes) return new Map(changes);
    throw new Error(problem);
  };
}

/** What an edit of code does not change: all but the names of bundles, and the digests of the page's parts. */
const shapeOf = ({ template }: Stack): string =>
  JSON.stringify(template, (key, value) => (key === 'S3Key' ? undefined : value)).replace(
    /'sha256-[^']*'/g,
    '',
  );

/** @returns the names of the functions that it changed */
function replaceTexts({ functions }: Running, texts: Changes): readonly string[] {
  const folders = new Set(functions.all().map(({ code }) => code().bundleDirectory));
  const files = [...folders].flatMap((folder) =>
    readdirSync(folder).map((name) => [folder, join(folder, name)] as const),
  );
  const changed = files.flatMap(([folder, file]) => {
    const text = texts.get(readFileSync(file, 'utf8'));
    if (text === undefined) return [];
    writeFileSync(file, text);
    return folder;
  });
  return functions.all().flatMap(({ name, code, use }) => {
    const { bundleDirectory, variables } = code();
    const json = JSON.stringify(variables);
    const replaced = [...texts].reduce((text, [from, to]) => text.replaceAll(from, to), json);
    if (replaced === json && !changed.includes(bundleDirectory)) return [];
    use({ bundleDirectory, variables: JSON.parse(replaced) });
    return name;
  });
}

/** Lets a stack's functions load their code from the new assembly, which has replaced the former. */
function useAssets({ name, template, assets }: Stack, { functions }: Running): void {
  for (const [logicalId, { Type, Properties }] of Object.entries(template.Resources)) {
    if (Type !== 'AWS::Lambda::Function') continue;
    const { code, use } = functions.find(physicalName({ name }, logicalId));
    use({ ...code(), bundleDirectory: assets.get(Properties?.Code.S3Key) ?? '' });
  }
}
