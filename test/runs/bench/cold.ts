import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';
import type { DatabaseAccess } from '../../../lambda/database/environment';
import { bundling, bundlingFor } from '../../../lib/functions/bundles';
import { type Figure, interleave, type PartOptions } from './measure';

/** Functions and the clients that each needs. */
const functions: readonly [useCase: string, access: DatabaseAccess, ...clients: string[]][] = [
  ['delete-user-group', 'data-api', '@aws-sdk/client-rds-data'],
  ['delete-user-group', 'direct', 'pg', '@aws-sdk/rds-signer'],
  ['fan-out-event', 'data-api', '@aws-sdk/client-rds-data', '@aws-sdk/client-sqs'],
  [
    'deliver-webhook',
    'data-api',
    ...['@aws-sdk/client-rds-data', '@aws-sdk/client-sqs', '@aws-sdk/client-kms'],
  ],
  ['run-operation', 'data-api', '@aws-sdk/client-rds-data'],
  ['purge-expired', 'data-api', '@aws-sdk/client-rds-data'],
  ['export-jwks', 'data-api', '@aws-sdk/client-kms'],
  ['migrate-schema', 'data-api', '@aws-sdk/client-rds-data', '@aws-sdk/client-secrets-manager'],
];

/** Loads each function's bundle in a fresh process, and compares with its clients alone. */
export async function measureColdStarts(options: PartOptions): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [useCase, access, ...clients] of functions) {
    const what = `load ${useCase}, ${access}`;
    options.progress(`cold: ${what}`);
    const files = ['ours', 'alone'].map((name) => join(options.directory, useCase, access, name, 'index.js'));
    const [ours = '', alone = ''] = files;
    buildSync({
      ...bundlingFor(access),
      entryPoints: [`lambda/${useCase}/handler.ts`],
      outfile: ours,
    });
    const contents = clients.map((client, index) => `export * as _${index} from '${client}';`).join('\n');
    const stdin = { contents, resolveDir: bundling.absWorkingDir, loader: 'ts' } as const;
    buildSync({ ...bundling, alias: {}, stdin, outfile: alone });
    const taken = await interleave({ ours: () => load(ours), alone: () => load(alone) }, 30, options);
    const against = `${clients.join(', ')} alone`;
    figures.push({ what, against, value: taken.ours, baseline: taken.alone, atMost: 1.15 });
  }
  return figures;
}

/** Milliseconds from the start of the file to its end, without Node.js's own start. */
async function load(file: string): Promise<number> {
  const script = `const began = performance.now(); require(${JSON.stringify(file)});
    console.log(performance.now() - began); process.exit();`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', script], { env: {} });
  return Number(stdout.trim().split('\n').at(-1));
}
