import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildSync } from 'esbuild';
import type { DatabaseAccess } from '../../../lambda/database/variables';
import { bundling, bundlingFor } from '../../../lib/functions/bundles';
import { type Figure, interleave, type PartOptions } from './measure';

const dataApi = '@aws-sdk/client-rds-data';
const sqs = '@aws-sdk/client-sqs';
const kms = '@aws-sdk/client-kms';

/** Functions and the clients that each needs. */
const functions: readonly [handlerName: string, access: DatabaseAccess, ...clients: string[]][] = [
  ['delete-user-group', 'data-api', dataApi],
  ['delete-user-group', 'direct', 'pg', '@aws-sdk/rds-signer'],
  ['fan-out-event', 'data-api', dataApi, sqs],
  ['deliver-webhook', 'data-api', dataApi, sqs, kms],
  ['run-operation', 'data-api', dataApi],
  ['purge-expired', 'data-api', dataApi],
  ['export-jwks', 'data-api', kms],
  ['migrate-schema', 'data-api', dataApi, '@aws-sdk/client-secrets-manager'],
];

/** Loads each function's bundle in a fresh process, and compares with its clients alone. */
export async function measureColdStarts(options: PartOptions): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [handlerName, access, ...clients] of functions) {
    const [ours = '', alone = ''] = ['ours', 'alone'].map((name) =>
      join(options.directory, handlerName, access, name, 'index.js'),
    );
    const entryPoints = [`lambda/${handlerName}/handler.ts`];
    buildSync({ ...bundlingFor(access), entryPoints, outfile: ours });
    const contents = clients.map((client, index) => `export * as _${index} from '${client}';`).join('\n');
    const stdin = { contents, resolveDir: bundling.absWorkingDir, loader: 'ts' } as const;
    buildSync({ ...bundling, alias: {}, stdin, outfile: alone });
    const variants = { value: () => load(ours), baseline: () => load(alone) };
    figures.push({
      ...{ what: `load ${handlerName}, ${access}`, unit: 'ms', goal: 1.15 },
      ...{ against: `${clients.join(', ')} alone`, ...(await interleave(variants, 30, options)) },
    });
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
