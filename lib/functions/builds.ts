import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type BuildOptions, type BuildResult, build, buildSync } from 'esbuild';
import type { DatabaseAccess } from '../../lambda/database/variables';

const projectRoot = resolve(__dirname, '../..');
const lambdaRoot = join(projectRoot, 'lambda');

/** esbuild's options for every bundle. Paths are from the root of the project. */
export const bundling = {
  absWorkingDir: projectRoot,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  // Prefers ES modules, which esbuild can tree-shake.
  mainFields: ['module', 'main'],
  // An optional native driver of `pg`, loaded on demand.
  external: ['pg-native'],
  loader: { '.sql': 'text' },
  // Credentials from environment variables only.
  alias: { '@aws-sdk/credential-provider-node': './lambda/shared/credentials.ts' },
  // `import('node:http')` would load its WebSocket and `fetch` too; `require` does not.
  supported: { 'dynamic-import': false },
  // Keeps names, for stack traces without a source map.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
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

/** Every handler's bundle by name. */
type Bundles = ReadonlyMap<string, Uint8Array>;

/** All bundles of a kind of access come from one call, once per process. */
const built = new Map<DatabaseAccess, Bundles>();

/**
 * Builds what `bundlesFor` returns in esbuild's own process, so that this one can load the CDK meanwhile.
 *
 * @throws (rejects) Error with esbuild's findings
 */
export async function buildBundles(): Promise<void> {
  const builds = (['data-api', 'direct'] as const).map(
    async (access) => [access, byName(await build(handlerBuild(access)))] as const,
  );
  for (const [access, bundles] of await Promise.all(builds)) built.set(access, bundles);
}

/** Builds them now if `buildBundles` has not. @throws Error with esbuild's findings */
export function bundlesFor(access: DatabaseAccess): Bundles {
  const bundles = built.get(access) ?? byName(buildSync(handlerBuild(access)));
  built.set(access, bundles);
  return bundles;
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

const byName = ({ outputFiles }: BuildResult<{ write: false }>): Bundles =>
  new Map(outputFiles.map((file) => [basename(dirname(file.path)), file.contents]));
