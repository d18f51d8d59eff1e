import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { Code, type CodeConfig } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { type BuildOptions, buildSync } from 'esbuild';

const projectRoot = resolve(__dirname, '../..');
const lambdaRoot = join(projectRoot, 'lambda');

/** How a handler and all that it imports become one file. Paths are from the root of the project. */
export const bundling = {
  absWorkingDir: projectRoot,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  // ES modules where packages have them: esbuild can then drop unused code.
  mainFields: ['module', 'main'],
  // An optional native driver that `pg` asks for only when told to.
  external: ['pg-native'],
  loader: { '.sql': 'text' },
  // Names stay, so that a stack trace in the log can be read without a source map.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  logLevel: 'silent',
} as const satisfies BuildOptions;

/** The use cases that have a handler. */
export function handlerNames(): readonly string[] {
  return readdirSync(lambdaRoot).filter((folder) => existsSync(join(lambdaRoot, folder, 'handler.ts')));
}

/**
 * The code of `lambda/<useCase>/handler.ts` as one CommonJS file, `index.js`, with everything it imports.
 *
 * @param files texts that lie beside it, by their names
 * @throws Error when there is no such handler, or when it does not build; the message has esbuild's findings.
 */
export function bundledCode(useCase: string, files: Readonly<Record<string, string>> = {}): Code {
  return new BundledCode(useCase, files);
}

class BundledCode extends Code {
  readonly isInline = false;

  constructor(
    private readonly useCase: string,
    private readonly files: Readonly<Record<string, string>>,
  ) {
    super();
  }

  override bind(scope: Construct): CodeConfig {
    const source = bundles().get(this.useCase);
    if (source === undefined) {
      throw new Error(
        `There is no lambda/${this.useCase}/handler.ts. Handlers: ${[...bundles().keys()].join(', ')}.`,
      );
    }
    const folder = mkdtempSync(join(tmpdir(), `wallet-bundle-${process.pid}-`));
    try {
      writeFileSync(join(folder, 'index.js'), source);
      for (const [name, text] of Object.entries(this.files)) writeFileSync(join(folder, name), text);
      // Copies the folder into the assembly at once, so that it can be removed again here.
      return Code.fromAsset(folder).bind(scope);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
}

let built: ReadonlyMap<string, Uint8Array> | undefined;

/** Every handler's bundle by use case: built on first use, once in a process, in one call. */
function bundles(): ReadonlyMap<string, Uint8Array> {
  built ??= build();
  return built;
}

function build(): ReadonlyMap<string, Uint8Array> {
  const { outputFiles } = buildSync({
    ...bundling,
    entryPoints: Object.fromEntries(
      handlerNames().map((name) => [`${name}/index`, `lambda/${name}/handler.ts`]),
    ),
    outdir: 'bundles',
    write: false,
  });
  return new Map(outputFiles.map((file) => [basename(dirname(file.path)), file.contents]));
}
