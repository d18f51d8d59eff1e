import './uncaught';
import { type BuildContext, type BuildFailure, context } from 'esbuild';
import { handlerBuild, handlerNames } from '../lib/functions/bundles';

/** One context for each kind of database access, in which esbuild rebuilds only what has changed. */
let contexts: readonly BuildContext[] = [];
let names: readonly string[] = [];
/** Bundles by name, such as `direct/fan-out-event`, as of the last answer. */
const sent = new Map<string, string>();

// `npm start -- --watch` runs this in a process that stays, and asks it after each edit.
process.on('message', async () => {
  try {
    if (String(names) !== String(handlerNames())) await openContexts();
    const rebuilt = contexts.map((each) => each.rebuild());
    // A context that still builds would answer the next request with what it read before the next edit.
    await Promise.allSettled(rebuilt);
    const results = await Promise.all(rebuilt);
    const bundles = results
      .flatMap(({ outputFiles = [] }) => outputFiles)
      .map(({ path, text }) => [path.split('/').slice(-3, -1).join('/'), text] as const)
      .filter(([name, text]) => sent.get(name) !== text);
    // The first answer is what the assembly has.
    process.send?.({ bundles: sent.size > 0 ? bundles : [] });
    for (const [name, text] of bundles) sent.set(name, text);
  } catch (error) {
    const places = (error as BuildFailure).errors?.map(
      ({ text, location }) => `${location?.file}:${location?.line}:${location?.column}: ${text}`,
    );
    process.send?.({ problem: places?.join('\n') ?? (error as Error).message });
  }
});
process.on('disconnect', dispose);

async function openContexts(): Promise<void> {
  await dispose();
  names = handlerNames();
  const open = (access: 'data-api' | 'direct') =>
    context({
      ...{ ...handlerBuild(access, names), outdir: access },
      // Gives the place of an error at load.
      ...{ sourcemap: 'inline', sourcesContent: false },
    });
  contexts = await Promise.all([open('data-api'), open('direct')]);
}

async function dispose(): Promise<void> {
  await Promise.all(contexts.map((each) => each.dispose()));
}
