import { posix } from 'node:path';
import { environments } from '../../lib/environments';

/** A source file: its path from the root of the repository, with slashes, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export interface Violation {
  readonly rule: string;
  readonly path: string;
  /** What breaks the rule: an import, or a piece of the text. */
  readonly found: string;
}

/** Folders of `lambda` that use cases share; every other one is a use case. */
const sharedFolders = ['database', 'shared', 'tokens', 'webhooks'];

const importPattern = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*['"]([^'"]+)['"]/g;

/** What a file imports: packages by name, files of the project by path without their ending. */
function importsOf({ path, text }: SourceFile): readonly string[] {
  return [...text.matchAll(importPattern)].map(([, specifier = '']) =>
    specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier,
  );
}

const isIn = (path: string, folder: string): boolean => path.startsWith(`${folder}/`);
const isPackage = (name: string, ...packages: readonly string[]): boolean =>
  packages.some((each) => name === each || name.startsWith(`${each}/`));

/** The use case that a path belongs to; undefined for what use cases share and for all outside of `lambda`. */
function useCaseOf(path: string): string | undefined {
  const folder = /^lambda\/([^/]+)\//.exec(path)?.[1];
  return folder && !sharedFolders.includes(folder) ? folder : undefined;
}

type ImportRule = (path: string, imported: string) => boolean;

/** Each says whether an import breaks it. */
const importRules: Readonly<Record<string, ImportRule>> = {
  'domain imports itself and what is pure': (path, imported) =>
    isIn(path, 'domain') && !isIn(imported, 'domain') && !['node:crypto', 'node:net'].includes(imported),

  'lambda never imports lib, bin or the CDK': (path, imported) =>
    isIn(path, 'lambda') &&
    (isIn(imported, 'lib') || isIn(imported, 'bin') || isPackage(imported, 'aws-cdk-lib', 'constructs')),

  'lib imports nothing of lambda but environment files': (path, imported) =>
    isIn(path, 'lib') && isIn(imported, 'lambda') && posix.basename(imported) !== 'environment',

  'lib never imports bin': (path, imported) => isIn(path, 'lib') && isIn(imported, 'bin'),

  'only the app is outside of the rooms of lib': (path, imported) =>
    isIn(path, 'lib') && /^lib\/[^/]+$/.test(imported) && !['lib/app', 'lib/environments'].includes(imported),

  'the page imports itself, allow-lists and the types of environments alone': (path, imported) =>
    isIn(path, 'dashboard') &&
    !isIn(imported, 'dashboard') &&
    !isIn(imported, 'cli/allow-lists') &&
    imported !== 'lib/environment/environment',

  'lib imports nothing of the page but its facts': (path, imported) =>
    isIn(path, 'lib') && isIn(imported, 'dashboard') && imported !== 'dashboard/facts',

  'no use case imports another': (path, imported) => {
    const from = useCaseOf(path);
    const to = useCaseOf(imported);
    return from !== undefined && to !== undefined && from !== to;
  },

  'what use cases share knows no use case': (path, imported) =>
    isIn(path, 'lambda') && useCaseOf(path) === undefined && useCaseOf(imported) !== undefined,

  'a decision knows ports, not AWS': (path, imported) => {
    const useCase = useCaseOf(path);
    return path === `lambda/${useCase}/${useCase}.ts` && isPackage(imported, '@aws-sdk', '@smithy', 'pg');
  },

  'handlers and requests make no clients': (path, imported) =>
    /^lambda\/[^/]+\/(handler|request)\.ts$/.test(path) && isPackage(imported, '@aws-sdk', '@smithy', 'pg'),

  'only the data-api adapter imports the RDS Data client': (path, imported) =>
    isIn(path, 'lambda') &&
    path !== 'lambda/database/data-api.ts' &&
    isPackage(imported, '@aws-sdk/client-rds-data'),

  'only the direct adapter imports pg': (path, imported) =>
    isIn(path, 'lambda') && path !== 'lambda/database/direct.ts' && isPackage(imported, 'pg'),
};

/** Names of environments and of their stacks, in a regular expression. */
const names = environments
  .flatMap(({ name, stackId, standby }) => [name, stackId, ...(standby ? [standby.stackId] : [])])
  .join('|');

type TextRule = readonly [applies: (path: string) => boolean, pattern: RegExp];

/** The table's validation and the check of templates are no constructs: names are theirs to compare. */
const isConstruct = (path: string): boolean =>
  isIn(path, 'lib') &&
  path !== 'lib/environments.ts' &&
  !isIn(path, 'lib/environment') &&
  !isIn(path, 'lib/checks');

const textRules: Readonly<Record<string, TextRule>> = {
  'process.env is read in dependencies.ts and bin only': [
    (path) => !isIn(path, 'bin') && !isIn(path, 'test') && posix.basename(path) !== 'dependencies.ts',
    /process\s*\.\s*env\b|process\[|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b/,
  ],
  "constructs never branch on an environment's name": [
    isConstruct,
    new RegExp(
      [
        /\b(?:name|environmentName|stackId|stackName)\s*(?:===|!==|==|!=)/.source,
        /(?:===|!==|==|!=)\s*(?:\w+\.)*environment\.name\b/.source,
        /switch\s*\([^)]*\b(?:name|stackId)\)/.source,
        String.raw`(?:===|!==|case)\s*['"](?:${names})['"]`,
      ].join('|'),
    ),
  ],
  // A made-up row or stack may have any name. The names in the table that others rely on are held in one place.
  'tests pick an environment by what it has, not by its name': [
    (path) =>
      isIn(path, 'test') &&
      !isIn(path, 'test/architecture') &&
      path !== 'test/constructs/environment-table.test.ts',
    new RegExp(
      [
        String.raw`(?:===|!==|\bcase|--environment['"],)\s*['"](?:${names})['"]`,
        String.raw`\b(?:stacks|templates|baseline|outputs)(?:\??\.|\[['"])(?:${names})\b`,
        String.raw`--environment[ =](?:${names})\b`,
      ].join('|'),
    ),
  ],
  'the page keeps nothing, and makes no markup of text': [
    (path) => isIn(path, 'dashboard'),
    /\b(?:localStorage|sessionStorage|indexedDB|cookie|innerHTML|outerHTML|insertAdjacentHTML|eval)\b/,
  ],
  'stacks share nothing': [
    isConstruct,
    /\bexportName\b|\bimportValue\b|\bcrossRegionReferences\b|\bexportValue\b/,
  ],
};

/** Names a file in a circle of imports, types included: none of its files can be read, or moved, without the others. */
const noCircles = 'no circles of imports';

/** The names of all rules. */
export const ruleNames: readonly string[] = [
  ...Object.keys(importRules),
  ...Object.keys(textRules),
  noCircles,
];

/** Every place where the files break the rules of the layout. */
export function violations(files: readonly SourceFile[]): readonly Violation[] {
  return [
    ...circles(files),
    ...files.flatMap((file) => [
      ...importsOf(file).flatMap((found) =>
        Object.entries(importRules)
          .filter(([, breaks]) => breaks(file.path, found))
          .map(([rule]) => ({ rule, path: file.path, found })),
      ),
      ...Object.entries(textRules).flatMap(([rule, [applies, pattern]]) => {
        const found = applies(file.path) ? pattern.exec(withoutComments(file.text))?.[0] : undefined;
        return found ? [{ rule, path: file.path, found }] : [];
      }),
    ]),
  ];
}

/** Every import that leads back to the file that it stands in. */
function circles(files: readonly SourceFile[]): readonly Violation[] {
  const imports = new Map(files.map((file) => [withoutEnding(file.path), importsOf(file)]));

  function reaches(from: string, target: string, visited: Set<string>): boolean {
    if (from === target) return true;
    if (visited.has(from)) return false;
    visited.add(from);
    return (imports.get(from) ?? []).some((next) => reaches(next, target, visited));
  }

  return files.flatMap((file) =>
    importsOf(file)
      .filter((found) => reaches(found, withoutEnding(file.path), new Set()))
      .map((found) => ({ rule: noCircles, path: file.path, found })),
  );
}

const withoutEnding = (path: string): string => path.replace(/(\/index)?\.[cm]?[jt]s$/, '');

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}
