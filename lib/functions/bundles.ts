import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { Code, type CodeConfig } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { type BuildOptions, buildSync } from 'esbuild';
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

export interface BundleOptions {
  /** Text files to add to the code, by name. @default - none */
  readonly files?: Readonly<Record<string, string>>;
  /** @default - the function uses no database */
  readonly databaseAccess?: DatabaseAccess | undefined;
}

/** The code of `lambda/<handlerName>/handler.ts` as one CommonJS file, `index.js`. @throws Error with esbuild's findings */
export class BundledCode extends Code {
  readonly isInline = false;

  constructor(
    private readonly handlerName: string,
    private readonly options: BundleOptions = {},
  ) {
    super();
  }

  override bind(scope: Construct): CodeConfig {
    const { files = {}, databaseAccess = 'data-api' } = this.options;
    const bundles = built.get(databaseAccess) ?? build(databaseAccess);
    built.set(databaseAccess, bundles);
    const source = bundles.get(this.handlerName);
    if (source === undefined) throw new Error(`There is no lambda/${this.handlerName}/handler.ts.`);
    const folder = mkdtempSync(join(tmpdir(), `wallet-bundle-${process.pid}-`));
    try {
      writeFileSync(join(folder, 'index.js'), source);
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
      // Copies the folder into the assembly at once, so that it can be removed again here.
      return Code.fromAsset(folder, { displayName: `${databaseAccess}/${this.handlerName}` }).bind(scope);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
}

/** Every handler's bundle by name: built on first use, all in one call, once per process and kind of access. */
const built = new Map<DatabaseAccess, ReadonlyMap<string, Uint8Array>>();

function build(access: DatabaseAccess): ReadonlyMap<string, Uint8Array> {
  const { outputFiles } = buildSync(handlerBuild(access, handlerNames()));
  return new Map(outputFiles.map((file) => [basename(dirname(file.path)), file.contents]));
}

/** esbuild's options for these handlers, each as `bundles/NAME/index.js`. */
export const handlerBuild = (access: DatabaseAccess, names: readonly string[]) =>
  ({
    ...bundlingFor(access),
    entryPoints: Object.fromEntries(names.map((name) => [`${name}/index`, `lambda/${name}/handler.ts`])),
    outdir: 'bundles',
    write: false,
  }) as const;
