import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type BuildOptions, buildSync } from 'esbuild';
import { bundlingFor, handlerNames } from '../../lib/functions/builds';

const root = resolve(__dirname, '../..');

/** The folders of the npm packages in the bundles of these files. */
function packagesIn(files: readonly string[], options: BuildOptions): string[] {
  const { metafile } = buildSync({
    ...options,
    absWorkingDir: root,
    entryPoints: [...files],
    outdir: 'bundles',
    write: false,
    metafile: true,
  });
  const inputs = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const folders = inputs
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([path]) => /.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  return [...new Set(folders)];
}
const handlers = handlerNames().map((name) => `lambda/${name}/handler.ts`);
const packages = {
  'data-api': packagesIn(handlers, bundlingFor('data-api')),
  direct: packagesIn(handlers, bundlingFor('direct')),
};

it('functions contain only packages whose licence asks for no more than to keep its notice', () => {
  const permitted = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'MIT-0'];
  const licences = [...new Set(Object.values(packages).flat())].map((folder) => [
    folder,
    JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')).license,
  ]);
  expect(licences.length).toBeGreaterThan(20);
  expect(licences.filter(([, licence]) => !permitted.includes(licence))).toEqual([]);
});

it('functions contain the client of their database only', () => {
  const clientsIn = (folders: readonly string[]) =>
    folders
      .map((folder) => folder.split('/').at(-1))
      .filter((name) => /^(pg|client-rds-data)$/.test(`${name}`));
  expect(clientsIn(packages['data-api'])).toEqual(['client-rds-data']);
  expect(clientsIn(packages.direct)).toEqual(['pg']);
});
