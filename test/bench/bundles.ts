import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';
import { readAssembly, type Stack } from '../../lib/local/assembly';
import { synthesize } from '../../lib/local/synthesis';

const projectRoot = resolve(__dirname, '../..');

/** The bundles that would be uploaded, each in the folder of its asset, by use case. */
export type DeployedBundles = Readonly<Record<string, string>>;

interface FunctionProperties {
  readonly Code: { readonly S3Key?: string };
  readonly Description?: string;
}

/** Synthesizes the stacks into `directory` and finds the bundles of the handlers in the assembly. */
export async function synthesizeBundles(directory: string): Promise<DeployedBundles> {
  await synthesize(directory, new AbortController().signal);
  const bundles: Record<string, string> = {};
  for (const stack of readAssembly(directory)) {
    for (const { useCase, folder } of handlersOf(stack)) bundles[useCase] = folder;
  }
  return bundles;
}

/** The role of a function says which use case it is: `delete-user-group: Deletes a user group`. */
function handlersOf({ template, assets }: Stack): { useCase: string; folder: string }[] {
  const useCases = new Map(
    Object.entries(template.Resources).flatMap(([logicalId, { Type, Properties = {} }]) => {
      const useCase = /^([a-z-]+): /.exec(String(Properties.Description ?? ''))?.[1];
      return Type === 'AWS::IAM::Role' && useCase ? [[logicalId, useCase] as const] : [];
    }),
  );
  return Object.values(template.Resources).flatMap(({ Type, Properties = {} }) => {
    if (Type !== 'AWS::Lambda::Function') return [];
    const { Code } = Properties as unknown as FunctionProperties;
    const [role] = (Properties.Role as { 'Fn::GetAtt'?: string[] })['Fn::GetAtt'] ?? [];
    const useCase = useCases.get(role ?? '');
    const folder = assets.get(Code.S3Key ?? '');
    return useCase && folder ? [{ useCase, folder }] : [];
  });
}

/** What to bundle: a file of the project, or source text. */
export type Entry = { readonly file: string } | { readonly source: string };

/**
 * Bundles `entry` into `folder/index.js` with the settings of `lib/bundles.ts`. That they are the same is a matter of
 * `bundlesAlike`.
 */
export function bundle(folder: string, entry: Entry): string {
  buildSync({
    ...settings,
    ...('file' in entry
      ? { entryPoints: [entry.file] }
      : { stdin: { contents: entry.source, resolveDir: projectRoot, loader: 'ts' as const } }),
    outfile: join(folder, 'index.js'),
  });
  return folder;
}

/** The npm packages of which something is in the bundle of a file. */
export function packagesOf(file: string): string[] {
  const { metafile } = buildSync({ ...settings, entryPoints: [file], write: false, metafile: true });
  const [output] = Object.values(metafile.outputs);
  const inputs = Object.entries(output?.inputs ?? {}).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  const names = inputs.flatMap(([path]) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
  return [...new Set(names)].sort();
}

const settings = {
  absWorkingDir: projectRoot,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'cjs',
  mainFields: ['module', 'main'],
  external: ['pg-native'],
  loader: { '.sql': 'text' },
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  logLevel: 'silent',
} as const satisfies BuildOptions;

/**
 * Makes sure that what is compared is bundled alike.
 *
 * @throws Error when the product's handler does not come out of `bundle` as it came out of synthesis
 */
export function requireBundlesAlike(deployed: DeployedBundles, directory: string): void {
  const useCase = 'delete-user-group';
  const folder = bundle(join(directory, 'comparison'), { file: `lambda/${useCase}/handler.ts` });
  const [ours, theirs] = [folder, deployed[useCase] ?? ''].map((each) =>
    readFileSync(join(each, 'index.js'), 'utf8'),
  );
  if (ours !== theirs)
    throw new Error(
      'test/bench/bundles.ts bundles otherwise than lib/bundles.ts: make its settings the same.',
    );
}
