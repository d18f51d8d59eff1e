import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { bundling } from '../../lib/functions/bundles';
import { readAssembly, type Stack } from '../../lib/local/template/assembly';
import { synthesize } from '../../lib/local/template/synthesis';
import { packageFolders } from '../support/bundled-packages';

/** The bundles that would be uploaded, each in the folder of its asset, by use case. */
export type DeployedBundles = Readonly<Record<string, string>>;

interface FunctionProperties {
  readonly Code: { readonly S3Key?: string };
  readonly Description?: string;
}

/** Synthesizes the stacks into `directory` and finds the bundles of the handlers in the assembly. */
export async function synthesizeBundles(directory: string, signal: AbortSignal): Promise<DeployedBundles> {
  await synthesize(directory, signal);
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

/** Bundles `entry` into `folder/index.js`, as handlers are bundled. */
export function bundle(folder: string, entry: Entry): string {
  buildSync({
    ...bundling,
    ...('file' in entry
      ? { entryPoints: [entry.file] }
      : { stdin: { contents: entry.source, resolveDir: bundling.absWorkingDir, loader: 'ts' as const } }),
    outfile: join(folder, 'index.js'),
  });
  return folder;
}

/** The npm packages of which something is in the bundle of a file. */
export function packagesOf(file: string): string[] {
  return [...new Set(packageFolders([file]).map((folder) => folder.replace(/^.*node_modules\//, '')))].sort();
}
