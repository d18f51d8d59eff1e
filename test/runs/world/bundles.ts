import { join } from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';
import { bundling } from '../../../lib/functions/bundles';
import { readAssembly, type Stack } from '../../../local/assembly/manifest';
import { synthesize } from '../../../local/assembly/synthesis';

/** The folders of the bundles that would be uploaded, by use case, and with direct access as `use-case, direct`. */
export type DeployedBundles = Readonly<Record<string, string>>;

/** Synthesizes the stacks into `directory` and finds the bundles of their functions. */
export async function synthesizeBundles(directory: string, signal: AbortSignal): Promise<DeployedBundles> {
  await synthesize(directory, signal);
  return Object.fromEntries(readAssembly(directory).flatMap(bundlesOf));
}

/** The description of a function's role begins with the use case: `delete-user-group: Deletes a user group`. */
function bundlesOf({ template: { Resources }, assets }: Stack): (readonly [string, string])[] {
  return Object.values(Resources).flatMap(({ Type, Properties = {} }) => {
    if (Type !== 'AWS::Lambda::Function') return [];
    const { Code, Environment, Role } = Properties as {
      readonly Code: { readonly S3Key?: string };
      readonly Environment?: { readonly Variables?: { readonly DATABASE_ACCESS?: string } };
      readonly Role: { readonly 'Fn::GetAtt'?: readonly string[] };
    };
    const role = Resources[Role['Fn::GetAtt']?.[0] ?? '']?.Properties;
    const useCase = /^([a-z-]+): /.exec(String(role?.Description ?? ''))?.[1];
    const folder = assets.get(Code.S3Key ?? '');
    const isDirect = Environment?.Variables?.DATABASE_ACCESS === 'direct';
    return useCase && folder ? [[isDirect ? `${useCase}, direct` : useCase, folder] as const] : [];
  });
}

/** What to bundle: a file of the project, or source text. */
export type Entry = { readonly file: string } | { readonly source: string };

/** Bundles `entry` into `folder/index.js`, as functions are bundled but for `options`. */
export function bundle(folder: string, entry: Entry, options: BuildOptions = {}): string {
  buildSync({
    ...bundling,
    ...options,
    ...('file' in entry
      ? { entryPoints: [entry.file] }
      : { stdin: { contents: entry.source, resolveDir: bundling.absWorkingDir, loader: 'ts' as const } }),
    outfile: join(folder, 'index.js'),
  });
  return folder;
}
