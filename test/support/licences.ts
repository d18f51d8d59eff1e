import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { handlerNames } from '../../lib/functions/bundles';
import { packageFolders } from './bundled-packages';

const projectRoot = resolve(__dirname, '../..');

/** The path of the list. */
export const licencesFile = resolve(projectRoot, 'docs/licences.md');

interface LockedPackage {
  readonly license?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** By folder; the root of the project is the empty one. */
type Lock = Readonly<Record<string, LockedPackage>>;

/** Allowed in a function's bundle: the only condition is to keep the notice. */
export const deployableLicences = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT-0',
];

/** The folders of the packages that are in the bundles of the functions, with their licences. */
export function deployedLicences(lock = readLock()): ReadonlyMap<string, string> {
  const folders = packageFolders(handlerNames().map((name) => `lambda/${name}/handler.ts`));
  return new Map(folders.map((folder) => [folder, licenceOf(folder, lock)]));
}

/** The text of `docs/licences.md`, from `package-lock.json` and the content of the bundles. */
export function licencesDocument(): string {
  const lock = readLock();
  const deployed = deployedLicences(lock);
  const root = lock[''] as LockedPackage;
  const direct: readonly (readonly [use: string, names: readonly string[]])[] = [
    ['product', Object.keys(root.dependencies ?? {})],
    ['product, on its own platform', Object.keys(root.optionalDependencies ?? {})],
    ['development', Object.keys(root.devDependencies ?? {})],
  ];
  const folders = Object.keys(lock).filter((folder) => folder !== '');

  return `# Licences

\`npx tsx test/support/licences.ts\` writes this page from \`package-lock.json\` and from the contents of the function bundles; a test
compares it. The project itself is unpublished and has no licence.

## Deployed packages

The function bundles contain these packages. Bundles are deployed to the deployer's own AWS account only; the dashboard's page, which
browsers download, contains no packages. A test rejects bundled packages with any licence except
${inWords(deployableLicences)}. \`aws-cdk-lib\` (Apache-2.0) adds functions of its own to every stack.

| Licence | Packages |
|---|---|
${grouped([...deployed])
  .map(([licence, names]) => `| ${licence} | ${inCode(names)} |`)
  .join('\n')}

## Direct dependencies

| Use | Licence | Packages |
|---|---|---|
${direct
  .flatMap(([use, names]) =>
    grouped(
      names.map((name) => [`node_modules/${name}`, licenceOf(`node_modules/${name}`, lock)] as const),
    ).map(([licence, each]) => `| ${use} | ${licence} | ${inCode(each)} |`),
  )
  .join('\n')}

## All packages in the lock file

${folders.length} packages, including those for other platforms. All except these have one of the licences above.

| Licence | Packages |
|---|---|
${grouped(folders.map((folder) => [folder, licenceOf(folder, lock)] as const))
  .filter(([licence]) => !deployableLicences.includes(licence))
  .map(([licence, names]) => `| ${licence} | ${inCode(names)} |`)
  .join('\n')}
`;
}

function readLock(): Lock {
  return JSON.parse(readFileSync(resolve(projectRoot, 'package-lock.json'), 'utf8')).packages;
}

/** The lock file lacks the licence of uninstalled platform packages: they have that of their parent package. */
function licenceOf(folder: string, lock: Lock): string {
  const known = lock[folder]?.license;
  if (known !== undefined) return known;
  const name = nameOf(folder);
  const whole = Object.values(lock).find(({ optionalDependencies = {} }) => name in optionalDependencies);
  return whole?.license ?? 'unknown';
}

const nameOf = (folder: string) => folder.replace(/^.*node_modules\//, '');

/** Packages by licence, the most frequent first. */
function grouped(packages: readonly (readonly [folder: string, licence: string])[]): [string, string[]][] {
  const groups = new Map<string, string[]>();
  for (const [folder, licence] of packages)
    groups.set(licence, [...(groups.get(licence) ?? []), nameOf(folder)]);
  return [...groups].sort(([a, some], [b, others]) => others.length - some.length || (a < b ? -1 : 1));
}

const inCode = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');

const inWords = (names: readonly string[]) => `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;

if (require.main === module) writeFileSync(licencesFile, licencesDocument());
