import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type BuildOptions, type BuildResult, buildSync } from 'esbuild';
import type { DatabaseAccess } from '../../lambda/database/variables';
import { startThread, type Thread } from '../thread';

const projectRoot = resolve(__dirname, '../..');
const lambdaRoot = join(projectRoot, 'lambda');

/** esbuild's options for every handler's bundle. Paths are from the root of the project. */
export const bundling = {
  absWorkingDir: projectRoot,
  bundle: true,
  platform: 'node',
  target: 'node24',
  // Prefers ES modules, which esbuild can tree-shake.
  mainFields: ['module', 'main'],
  loader: { '.sql': 'text' },
  // Credentials from environment variables only.
  alias: { '@aws-sdk/credential-provider-node': './lambda/shared/credentials.ts' },
  // `import('node:http')` would load its WebSocket and `fetch` too; `require` does not.
  supported: { 'dynamic-import': false },
  // Keeps names, for stack traces without a source map.
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'silent',
} as const satisfies BuildOptions;

/** For one kind of database access: with `direct`, `./connect` is `connect.direct.ts` instead of `connect.ts`. */
export const bundlingFor = (access: DatabaseAccess) => ({
  ...bundling,
  resolveExtensions: [`.${access}.ts`, '.tsx', '.ts', '.jsx', '.js', '.css', '.json'],
});

/** The folders of `lambda` that have a handler. */
export function handlerNames(): readonly string[] {
  return readdirSync(lambdaRoot).filter((folder) => existsSync(join(lambdaRoot, folder, 'handler.ts')));
}

const handlerBuild = (access: DatabaseAccess) =>
  ({
    ...bundlingFor(access),
    entryPoints: Object.fromEntries(
      handlerNames().map((name) => [`${name}/index`, `lambda/${name}/handler.ts`]),
    ),
    outdir: 'bundles',
    write: false,
  }) as const satisfies BuildOptions;

const dashboardBuild = {
  absWorkingDir: join(projectRoot, 'dashboard'),
  entryPoints: ['page.ts', 'page.css'],
  outdir: 'bundles',
  write: false,
  bundle: true,
  // Browsers of the last two years. `light-dark()` is of May 2024 at the latest:
  // https://developer.mozilla.org/en-US/docs/Web/CSS/color_value/light-dark
  target: ['chrome123', 'firefox121', 'safari17.5'],
  minify: true,
  logLevel: 'silent',
} as const satisfies BuildOptions;

/** What is built: every handler for one kind of database access, or the dashboard's page. In the order of need. */
export const kinds = ['data-api', 'dashboard', 'direct'] as const satisfies readonly (
  | DatabaseAccess
  | 'dashboard'
)[];

type Kind = (typeof kinds)[number];

/** esbuild's options for a kind. */
export const optionsOf = (kind: Kind) => (kind === 'dashboard' ? dashboardBuild : handlerBuild(kind));

/** Files by path, such as `deliver-webhook/index.js`. */
type Built = ReadonlyMap<string, Uint8Array>;

/** The files of a build. */
export const byPath = ({ outputFiles }: BuildResult<{ write: false }>): Built =>
  new Map(outputFiles.map(({ path, contents }) => [path.replace(/^.*[/\\]bundles[/\\]/, ''), contents]));

/** All files of a kind come from one call, once per process. */
const built = new Map<Kind, Built>();

let builds: Thread<readonly [Kind, Built]> | undefined;

/** Begins to build everything, in a thread that starts esbuild, while this one loads the CDK. */
export function startBuilds(): void {
  builds = startThread(join(__dirname, 'builds-worker.ts'));
}

/** Waits for what `startBuilds` began, or builds it now. @throws Error with esbuild's findings */
export function builtFor(kind: Kind): Built {
  let files = built.get(kind);
  while (!files) {
    built.set(...(builds?.next() ?? [kind, byPath(buildSync(optionsOf(kind)))]));
    files = built.get(kind);
  }
  return files;
}
