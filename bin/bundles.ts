import './node-version';
import './uncaught';
import { buildSync } from 'esbuild';
import { buildPage } from '../lib/dashboard/page';
import { handlerBuild, handlerNames } from '../lib/functions/bundles';

const accesses = ['data-api', 'direct'] as const;
/** Source files by bundle; none of a bundle that is to be built. */
const sources = new Map<string, readonly string[]>();
/** What edits change in functions' files and variables, by unique names. */
const texts = new Map<string, string | undefined>();
let sent = new Map(texts);

// `npm start -- --watch` runs this in a process that stays, and sends it the paths of edited files.
process.on('message', (edited: readonly string[]) => {
  for (const [bundle, paths] of sources)
    if (edited.some((path) => paths.includes(path))) sources.delete(bundle);
  try {
    for (const access of accesses) build(access);
    const { html, headers } = buildPage();
    texts.set('page', html).set('policy', headers['Content-Security-Policy']);
    const changes = [...sent].map(([name, from]) => [from, texts.get(name)]);
    sent = new Map(texts);
    process.send?.({ changes: changes.filter(([from, to]) => from && from !== to) });
  } catch (error) {
    process.send?.({ problem: (error as Error).message });
  }
});

function build(access: (typeof accesses)[number]): void {
  const names = handlerNames().filter((name) => !sources.has(`${access}/${name}/index.js`));
  const options = { ...handlerBuild(access, names), outdir: access, metafile: true } as const;
  const { outputFiles, metafile } = buildSync(options);
  for (const [index, [path, { inputs }]] of Object.entries(metafile.outputs).entries()) {
    sources.set(path, Object.keys(inputs));
    texts.set(path, outputFiles[index]?.text);
  }
}
