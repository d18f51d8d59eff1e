import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';
import { bundling } from '../../../lib/functions/bundles';
import { readAssembly } from '../../../local/assembly/manifest';
import { synthesize } from '../../../local/assembly/synthesis';
import { type Figure, interleave, type PartOptions } from './measure';

/** The clients that each function needs, by use case. */
const clientsOf: Readonly<Record<string, readonly string[]>> = {
  'delete-user-group': ['@aws-sdk/client-rds-data'],
  'delete-user-group, direct': ['pg', '@aws-sdk/rds-signer'],
  'fan-out-event': ['@aws-sdk/client-rds-data', '@aws-sdk/client-sqs'],
  'deliver-webhook': ['@aws-sdk/client-rds-data', '@aws-sdk/client-sqs', '@aws-sdk/client-kms'],
  'run-operation': ['@aws-sdk/client-rds-data'],
  'purge-expired': ['@aws-sdk/client-rds-data'],
  'export-jwks': ['@aws-sdk/client-kms'],
  'migrate-schema': ['@aws-sdk/client-rds-data', '@aws-sdk/client-secrets-manager'],
};

/** Loads each deployable bundle in a fresh process, and compares with its clients alone. */
export async function measureColdStarts(options: PartOptions): Promise<Figure[]> {
  const { directory, progress, signal } = options;
  await synthesize(join(directory, 'assembly'), signal);
  const bundles = deployedBundles(join(directory, 'assembly'));
  const figures: Figure[] = [];
  for (const [name, clients] of Object.entries(clientsOf)) {
    const ours = bundles.get(name);
    if (ours === undefined) throw new Error(`No function's role is described as "${name}: …".`);
    progress(`cold: ${name}`);
    const alone = join(directory, name, 'index.js');
    const contents = clients
      .map((client) => `export * as _${clients.indexOf(client)} from '${client}';`)
      .join('\n');
    const stdin = { contents, resolveDir: bundling.absWorkingDir, loader: 'ts' } as const;
    buildSync({ ...bundling, alias: {}, stdin, outfile: alone });
    const taken = await interleave({ ours: () => load(ours), alone: () => load(alone) }, 30, options);
    const sizes = [ours, alone].map((file) => statSync(file).size / 1_024);
    const what = `load ${name}`;
    const against = `${clients.join(', ')} alone`;
    figures.push(
      { what, against, value: taken.ours, baseline: taken.alone, atMost: 1.15 },
      { what, against, unit: 'KiB', value: sizes.slice(0, 1), baseline: sizes.slice(1) },
    );
  }
  return figures;
}

/** The file of each bundle, by the use case with which its role's description begins, and `, direct` for direct access. */
function deployedBundles(assembly: string): ReadonlyMap<string, string> {
  const bundles = new Map<string, string>();
  for (const { template, assets } of readAssembly(assembly))
    for (const { Type, Properties = {} } of Object.values(template.Resources)) {
      if (Type !== 'AWS::Lambda::Function') continue;
      const { Code, Environment, Role } = Properties as {
        readonly Code: { readonly S3Key?: string };
        readonly Environment?: { readonly Variables?: { readonly DATABASE_ACCESS?: string } };
        readonly Role: { readonly 'Fn::GetAtt'?: readonly string[] };
      };
      const role = template.Resources[Role['Fn::GetAtt']?.[0] ?? '']?.Properties;
      const useCase = /^([a-z-]+): /.exec(String(role?.Description ?? ''))?.[1];
      const folder = assets.get(Code.S3Key ?? '');
      const access = Environment?.Variables?.DATABASE_ACCESS === 'direct' ? ', direct' : '';
      if (useCase && folder) bundles.set(useCase + access, join(folder, 'index.js'));
    }
  return bundles;
}

/** Milliseconds from the start of the file to its end, without Node.js's own start. */
async function load(file: string): Promise<number> {
  const script = `const began = performance.now(); require(${JSON.stringify(file)});
    console.log(performance.now() - began); process.exit();`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script], { env: {} });
  return Number(stdout.trim().split('\n').at(-1));
}
