import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestFile, provideAssembly } from './assembly/cache';
import { readAssembly, type Stack, servingStacks } from './assembly/manifest';
import type { FunctionCode, StackFunction } from './aws/lambda/function';
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
  environments(): readonly { readonly stack: Stack }[];
  /** Starts one environment again. */
  restart(stack: Stack): Promise<void>;
}

/** Paths with a slash at the end of folders. The page embeds the receivers' guide. */
const isWatched = (path: string) => /^(dashboard|domain|lambda|lib)\/|^docs\/receivers\.md$/.test(path);

/**
 * Serves edits of the sources: functions get new bundles at once, then the stacks are synthesized, and environments whose
 * template has changed start again. What does not compile or load leaves everything as it was.
 */
export function watchSources({ local, assembly, root, log, signal }: WatchOptions): void {
  const stacks = new Map(local.environments().map(({ stack }) => [stack.environment, stack]));
  const report = ({ message }: Error) => signal.aborted || log.problem(message);
  const build = startBuilder(root, signal);
  /** Holds edited bundles: a synthesis replaces the assembly. */
  const edits = `${assembly}.edits`;
  const removeEdits = () => rmSync(edits, { recursive: true, force: true });
  removeEdits();
  signal.addEventListener('abort', removeEdits);
  /** One step at a time. */
  let steps: Promise<unknown> = build().then(() => log.step('Edits of the sources are served'), report);
  const enqueue = (step: () => Promise<unknown>) => {
    steps = steps.then(step).catch(report);
  };
  let synthesis: Promise<unknown> = Promise.resolve();
  let superseded = new AbortController();
  let delay: NodeJS.Timeout | undefined;

  /** Not recursive: on Linux, Node.js misses changes of a file that an editor has replaced. */
  function watchFolder(folder: string): void {
    watch(join(root, folder), { persistent: false }, (type, name) => {
      const path = `${folder}/${name}`;
      if (!isWatched(path)) return;
      const isFolder = statSync(join(root, path), { throwIfNoEntry: false })?.isDirectory();
      if (type === 'rename' && isFolder) watchFolder(path);
      superseded.abort();
      superseded = new AbortController();
      const isSuperseded = superseded.signal;
      clearTimeout(delay);
      // An editor makes several changes for one edit.
      delay = setTimeout(() => signal.aborted || enqueue(() => serve(isSuperseded)), 50);
    });
    for (const each of readdirSync(join(root, folder), { withFileTypes: true }))
      if (each.isDirectory() && isWatched(`${folder}/${each.name}/`)) watchFolder(`${folder}/${each.name}`);
  }

  async function serve(isSuperseded: AbortSignal): Promise<void> {
    const bundles = await build();
    // Until it is synthesized, the assembly is not that of the sources.
    rmSync(digestFile(assembly), { force: true });
    await replaceCode('Serving the edit', ({ bundle, code }) => {
      const text = bundles.get(bundle);
      if (text === undefined) return undefined;
      mkdirSync(edits, { recursive: true });
      const bundleDirectory = mkdtempSync(join(edits, 'bundle-'));
      cpSync(code().bundleDirectory, bundleDirectory, { recursive: true });
      writeFileSync(join(bundleDirectory, 'index.js'), text);
      return { ...code(), bundleDirectory };
    });
    log.step('Synthesizing…');
    const options = { directory: assembly, root, signal: AbortSignal.any([signal, isSuperseded]) };
    synthesis = synthesis
      .then(() => provideAssembly(options))
      .then(() => enqueue(() => Promise.all(servingStacks(readAssembly(assembly)).map(apply))))
      .catch((error) => isSuperseded.aborted || report(error));
  }

  /** @throws Error with the functions whose new code cannot be loaded */
  async function replaceCode(
    step: string,
    codeOf: (each: StackFunction) => FunctionCode | undefined,
  ): Promise<void> {
    const served = new Set<string>();
    const failures = new Set<string>();
    async function replace(each: StackFunction): Promise<void> {
      const code = codeOf(each);
      if (!code) return;
      const [, name = each.name] = each.bundle.split('/');
      const failure = await each.use(code);
      if (!failure) return void served.add(name);
      const { errorType, errorMessage, trace = [] } = failure;
      const [, place = `lambda/${name}/handler.ts`] =
        /.*\b((?:lambda|domain)\/\S+\.ts:\d+:\d+)/.exec(trace.join('\n')) ?? [];
      failures.add(`${place}: ${errorType}: ${errorMessage}\n${stillServed(name)}`);
    }
    await Promise.all(local.functions.all().map(replace));
    if (failures.size > 0) throw new Error([...failures].join('\n'));
    if (served.size > 0) log.step(`${step}: ${[...served].join(', ')}`);
  }

  async function apply(stack: Stack): Promise<void> {
    const { environment } = stack;
    const last = stacks.get(environment);
    if (!last) return;
    stacks.set(environment, stack);
    if (shapeOf(last) === shapeOf(stack)) return useAssets(stack, last);
    log.step(`The template of ${environment} has changed: starting it again`);
    await local.restart(stack).catch((error) => {
      // The next edit starts it again.
      stacks.set(environment, { ...stack, template: { Resources: {} } });
      report(error);
    });
  }

  /** Lets a stack's functions load their code from the new assembly, which has replaced the former. */
  const useAssets = ({ name: stackName, template, assets }: Stack, last: Stack): Promise<void> =>
    replaceCode('Serving the synthesized code', ({ name, code }) => {
      const [former, next] = [last.template, template].map(
        ({ Resources }) => Resources[name.replace(`${stackName}-`, '')]?.Properties,
      );
      if (!next) return undefined;
      const bundleDirectory = assets.get(next.Code.S3Key)?.path ?? '';
      // The digests of the page's parts.
      const changed = Object.entries<string>(next.Environment?.Variables ?? {}).filter(
        ([key, value]) => typeof value === 'string' && value !== former?.Environment?.Variables[key],
      );
      if (bundleDirectory === code().bundleDirectory && changed.length === 0) return undefined;
      return { bundleDirectory, variables: { ...code().variables, ...Object.fromEntries(changed) } };
    });

  for (const folder of ['dashboard', 'docs', 'domain', 'lambda', 'lib']) watchFolder(folder);
}

const stillServed = (what: string) => `The previous version of ${what} is still served.`;

/** @returns a function that builds what has changed since its last call; it throws an Error with the place of what does not compile */
function startBuilder(root: string, signal: AbortSignal): () => Promise<ReadonlyMap<string, string>> {
  const child = fork(join(root, 'bin/bundles.ts'), [], {
    cwd: root,
    execArgv: ['--require', require.resolve('tsx/cjs')],
    // Ctrl-C in a terminal reaches the whole process group.
    ...{ detached: true, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] },
  });
  signal.addEventListener('abort', () => child.connected && child.disconnect());
  child.on('error', () => undefined);
  const ended = once(child, 'exit').then(() => [{ problem: 'The process that bundles edits has ended.' }]);
  return async () => {
    child.send('build', () => undefined);
    const [{ bundles, problem }] = await Promise.race([once(child, 'message'), ended]);
    if (bundles) return new Map(bundles);
    throw new Error(`${problem}\n${stillServed('every function')}`);
  };
}

/** What an edit of code does not change: all but the names of bundles, and the digests of the page's parts. */
const shapeOf = ({ template }: Stack): string =>
  JSON.stringify(template, (key, value) => (key === 'S3Key' ? undefined : value)).replace(
    /'sha256-[^']*'/g,
    '',
  );
