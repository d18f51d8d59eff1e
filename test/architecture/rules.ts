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
  /** The violation: an import, or a piece of the text. */
  readonly found: string;
}

/** Shared folders of `lambda`; all others are use cases. */
const sharedFolders = ['database', 'shared', 'tokens', 'webhooks'];

const importPattern = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*['"]([^'"]+)['"]/g;

/** The imports of a file: packages by name, project files by path without extension. */
export function importsOf({ path, text }: SourceFile): readonly string[] {
  return [...text.matchAll(importPattern)].map(([, specifier = '']) =>
    specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier,
  );
}

const isIn = (path: string, folder: string): boolean => path.startsWith(`${folder}/`);
const isPackage = (name: string, ...packages: readonly string[]): boolean =>
  packages.some((each) => name === each || name.startsWith(`${each}/`));

/** The use case of a path; undefined for shared folders and outside `lambda`. */
function useCaseOf(path: string): string | undefined {
  const folder = /^lambda\/([^/]+)\//.exec(path)?.[1];
  return folder && !sharedFolders.includes(folder) ? folder : undefined;
}

const programOf = (path: string): string => path.split('/')[0] ?? '';
const isOfProject = (imported: string): boolean =>
  /^(\.ci|bin|cli|dashboard|domain|lambda|lib|local|test)\//.test(imported);

/** The project imports allowed for each program. The three programs share files and `domain`. */
const mayImport: Readonly<Record<string, RegExp>> = {
  '.ci': /^(\.ci|cli|domain)\/|^lib\/environments$/,
  cli: /^(cli|domain)\/|^lib\/environments$/,
  dashboard: /^(dashboard|domain)\//,
  domain: /^domain\//,
  lambda: /^(lambda|domain)\//,
  lib: /^(lib|domain)\/|^lambda\/[^/]+\/environment$/,
  local: /^(local|domain)\//,
};

const startedBy: Readonly<Record<string, RegExp>> = {
  'bin/account.ts': /^lib\//,
  'bin/app.ts': /^lib\//,
  'bin/local.ts': /^local\//,
  'bin/wallet.ts': /^cli\//,
};

type ImportRule = (path: string, imported: string) => boolean;

/** Each returns whether an import breaks it. */
const importRules: Readonly<Record<string, ImportRule>> = {
  'each program imports itself, domain and its permitted others': (path, imported) =>
    isOfProject(imported) && !(mayImport[programOf(path)]?.test(imported) ?? true),

  'an entry point imports domain and the program that it starts': (path, imported) =>
    isIn(path, 'bin') &&
    isOfProject(imported) &&
    !isIn(imported, 'bin') &&
    !isIn(imported, 'domain') &&
    !(startedBy[path]?.test(imported) ?? false),

  'domain is pure': (path, imported) =>
    isIn(path, 'domain') &&
    !isOfProject(imported) &&
    !['ipaddr.js', 'node:crypto', 'node:net', 'valibot'].includes(imported),

  'lambda never imports the CDK': (path, imported) =>
    isIn(path, 'lambda') && isPackage(imported, 'aws-cdk-lib', 'constructs'),

  'the page imports no package': (path, imported) => isIn(path, 'dashboard') && !isOfProject(imported),

  'what is outside of the folders of lib is known': (path, imported) =>
    isIn(path, 'lib') &&
    /^lib\/[^/]+$/.test(imported) &&
    !['accounts', 'app', 'environment', 'environments', 'stable-logical-id'].includes(
      posix.basename(imported),
    ),

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

/** Not constructs: the table's validation and the template checks may compare names. */
const isConstruct = (path: string): boolean =>
  isIn(path, 'lib') &&
  !['lib/environment.ts', 'lib/environments.ts'].includes(path) &&
  !isIn(path, 'lib/checks');

const textRules: Readonly<Record<string, TextRule>> = {
  'process.env is read where a function is put together and in bin': [
    (path) => !/^(\.ci|bin|test)\//.test(path) && !/^lambda\/[^/]+\/handler\.ts$/.test(path),
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
  // Fictitious rows and stacks may have any name. One file checks names that others rely on.
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

/** Names a file in an import cycle, including types: its files cannot be read or moved separately. */
const noCircles = 'no circles of imports';
const noFolderCircles = 'no circles between folders';

/** The names of all rules. */
export const ruleNames: readonly string[] = [
  ...Object.keys(importRules),
  ...Object.keys(textRules),
  noCircles,
  noFolderCircles,
];

/** Every violation of the rules of the layout. */
export function violations(files: readonly SourceFile[]): readonly Violation[] {
  return [
    ...circles(noCircles, files, (path) => path),
    ...circles(noFolderCircles, files, folderOf),
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

/**
 * Every import that leads back to its own file.
 *
 * @param nodeOf what a file, or an import, counts as
 */
function circles(
  rule: string,
  files: readonly SourceFile[],
  nodeOf: (path: string) => string,
): readonly Violation[] {
  const imports = files.flatMap((file) =>
    importsOf(file).map((found) => ({
      path: file.path,
      found,
      from: nodeOf(withoutEnding(file.path)),
      to: nodeOf(found),
    })),
  );
  const next = new Map<string, Set<string>>();
  for (const { from, to } of imports) next.set(from, (next.get(from) ?? new Set()).add(to));

  function reaches(from: string, target: string, visited = new Set<string>()): boolean {
    if (from === target) return true;
    if (visited.has(from)) return false;
    visited.add(from);
    return [...(next.get(from) ?? [])].some((each) => reaches(each, target, visited));
  }

  return imports
    .filter(({ from, to }) => (rule === noCircles || from !== to) && reaches(to, from))
    .map(({ path, found }) => ({ rule, path, found }));
}

/** A folder of a program; a file beside the folders counts by itself. */
const folderOf = (path: string): string => path.split('/').slice(0, 2).join('/');

const withoutEnding = (path: string): string => path.replace(/(\/index)?\.[cm]?[jt]s$/, '');

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}
