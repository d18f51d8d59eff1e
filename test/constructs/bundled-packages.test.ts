import { buildSync } from 'esbuild';
import { bundlingFor, handlerNames } from '../../lib/functions/builds';
import { readSource } from '../architecture/sources';

/** They ask for no more than to keep their notice. */
const permitted = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT-0'];

it.each(['data-api', 'direct'] as const)('functions with %s have permitted packages only', (access) => {
  const { metafile } = buildSync({
    ...bundlingFor(access),
    entryPoints: handlerNames().map((name) => `lambda/${name}/handler.ts`),
    outdir: 'bundles',
    write: false,
    metafile: true,
  });
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const folders = inputs
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([path]) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  const licences = [...new Set(folders)].map((folder) => [
    folder,
    JSON.parse(readSource(`${folder}/package.json`)).license,
  ]);
  expect(licences.length).toBeGreaterThan(10);
  // Lambda passes credentials by variables.
  expect(folders.filter((folder) => /credential-provider-(?!env$)/.test(folder))).toEqual([]);
  expect(licences.filter(([, licence]) => !permitted.includes(licence))).toEqual([]);
});
