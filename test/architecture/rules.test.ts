import { first } from '../support/rows';
import * as own from '../support/table';
import { type Import, importsOf, type SourceFile, sourcesIn } from './sources';

/** A title, what is wrong in a file, and paths with texts that the rule must find. */
type Rule = [
  title: string,
  wrongIn: (file: SourceFile) => readonly string[],
  ...breaches: [path: string, text: string][],
];

const importing =
  (of: RegExp, isForbidden: (imported: Import, path: string) => boolean) =>
  (file: SourceFile): readonly string[] =>
    importsOf(file).flatMap((each) =>
      of.test(file.path) && isForbidden(each, file.path) ? [each.name] : [],
    );

/** Comments may contain it. */
const containing =
  (of: RegExp, ...forbidden: readonly (RegExp | string)[]) =>
  ({ path, text }: SourceFile): readonly string[] => {
    const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
    const any = new RegExp(forbidden.map((each) => new RegExp(each).source).join('|'));
    return (of.test(path) && any.exec(code)?.slice(0, 1)) || [];
  };

/** What each program imports of the project. The three programs share files and `domain`. */
const permitted: readonly (readonly [of: RegExp, imports: RegExp])[] = [
  [/^\.ci\//, /^(\.ci|cli|domain)\/|^lib\/environments$/],
  [/^bin\/(account|app|bundles|guardrails)\.ts$/, /^(bin|domain|lib)\//],
  [/^bin\/local\.ts$/, /^(bin|domain|local)\/|^lib\/environments$/],
  [/^bin\/wallet\.ts$/, /^(bin|domain|cli)\//],
  [/^bin\/(?!(account|app|bundles|guardrails|local|wallet)\.ts$)/, /^(bin|domain)\//],
  [/^cli\//, /^(cli|domain)\/|^lib\/environments$/],
  [/^dashboard\//, /^(dashboard|domain)\//],
  [/^domain\//, /^domain\//],
  [/^lambda\//, /^(lambda|domain)\//],
  [/^lib\//, /^(lib|domain)\/|^lambda\/[^/]+\/variables$/],
  [/^local\//, /^(local|domain)\//],
];

const forbiddenPackages: readonly (readonly [of: RegExp, packages: RegExp])[] = [
  [/^domain\//, /^(?!(ipaddr\.js|node:crypto|node:net|valibot)$)/],
  [/^dashboard\//, /^/],
  [/^lambda\//, /^(aws-cdk-lib|constructs)(\/|$)/],
  // A use case imports ports.
  [/^lambda\/([^/]+)\/\1\.ts$/, /^(@aws-sdk\/|@smithy\/|pg$)/],
  [/^lambda\/(?!database\/data-api\.ts)/, /^@aws-sdk\/client-rds-data$/],
  [/^lambda\/(?!database\/direct\.ts)/, /^pg$/],
];

/** The function of a path; undefined for the shared folders and outside `lambda`. */
const handlerOf = (path: string) => /^lambda\/(?!database|shared)([^/]+)\//.exec(path)?.[1];

/** Names of environments and of their stacks, in a regular expression. */
const names = own.stacks.flatMap(({ environment, stackId }) => [environment.name, stackId]).join('|');
/** Not constructs: the table and the template checks may compare names. */
const construct = /^lib\/(?!environment\/|checks\/)/;

const rules: Rule[] = [
  [
    'each program imports itself, domain and its permitted others',
    importing(/^/, ({ name, isPackage }, path) =>
      permitted.some(
        ([of, imports]) => of.test(path) && !isPackage && name !== 'package.json' && !imports.test(name),
      ),
    ),
    ['domain/event.ts', "import { x } from '../lib/environments';"],
    ['lib/api/api.ts', "import { problems } from '../../lambda/shared/problems';"],
    ['cli/callers/token.ts', "import { Environment } from '../../lib/environment/schema';"],
    ['.ci/print-diff.ts', "import { createApp } from '../lib/environments-app';"],
  ],
  [
    'domain, the page, functions and use cases import only their packages',
    importing(/^/, ({ name, isPackage }, path) =>
      forbiddenPackages.some(([of, packages]) => of.test(path) && isPackage && packages.test(name)),
    ),
    ['domain/event.ts', "import { readFileSync } from 'node:fs';"],
    ['lambda/shared/a.ts', "import { RDSDataClient } from '@aws-sdk/client-rds-data';"],
    ['lambda/purge-expired/handler.ts', "import { Pool } from 'pg';"],
    ['lambda/delete-user-group/delete-user-group.ts', "import { KMS } from '@aws-sdk/client-kms';"],
  ],
  [
    'functions import neither each other nor, from what they share, back: move it to lambda/shared or lambda/database',
    importing(/^lambda\//, ({ name }, path) => ![undefined, handlerOf(path)].includes(handlerOf(name))),
    ['lambda/deliver-webhook/a.ts', "import { x } from '../fan-out-event/request';"],
    ['lambda/shared/a.ts', "import { x } from '../delete-user-group/request';"],
  ],
  [
    'folders of local do not import the files that put them together: move what they share to local/shared',
    importing(/^local\/\w+\//, ({ name }) => /^local\/[\w-]+$/.test(name)),
    ['local/aws/services.ts', "import { startLocal } from '../start';"],
  ],
  [
    'the page stores nothing but the reader’s choices, and never parses text as markup',
    containing(
      /^dashboard\//,
      /\b(?:localStorage(?!\.[gs]etItem\(key\b)|(?:sessionStorage|indexedDB|cookie|innerHTML|outerHTML|insertAdjacentHTML|eval)\b)/,
    ),
    ['dashboard/dom.ts', "localStorage.setItem('token', token);"],
    ['dashboard/dom.ts', 'document.body.innerHTML = token;'],
  ],
  [
    'process.env is read where a function is put together, and in bin',
    containing(
      /^(?!(\.ci|bin|test)\/|lambda\/[^/]+\/handler\.ts$)/,
      /process\s*\.\s*env\b|process\[|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b/,
    ),
    ['lambda/shared/a.ts', 'const x = process.env.REGION;'],
    ['lib/api/api.ts', 'const { env } = process;'],
  ],
  [
    "constructs never branch on an environment's name",
    containing(
      construct,
      /\b(?:name|environmentName|stackId|stackName)\s*[!=]=|[!=]==?\s*(?:\w+\.)*environment\.name\b/,
      /switch\s*\([^)]*\b(?:name|stackId)\)/,
      String.raw`(?:[!=]==|case)\s*['"](?:${names})['"]`,
    ),
    ['lib/api/api.ts', `if (environment.name === '${first.name}') {}`],
    ['lib/api/api.ts', `const x = kind === '${first.name}' ? 1 : 2;`],
  ],
  [
    "tests read their own table, never the operator's: test/support/table.ts",
    importing(/^test\/(?!runs\/|support\/local-environment\.ts)/, ({ name }) => name === 'lib/environments'),
    ['test/cli/a.test.ts', "import { environments } from '../../lib/environments';"],
  ],
  [
    // Fictitious rows and stacks may have any name.
    'tests pick an environment by what it has, not by its name',
    containing(
      /^test\/(?!architecture\/)/,
      String.raw`(?:===|!==|\bcase|--environment['"],)\s*['"](?:${names})['"]`,
      String.raw`\b(?:stacks|templates|baseline|outputs)(?:\??\.|\[['"])(?:${names})\b`,
      String.raw`--environment[ =](?:${names})\b`,
    ),
    ['test/local/a.test.ts', `environments.find(({ name }) => name === '${first.name}')`],
    ['test/local/a.test.ts', `const { Resources } = templates['${first.stackId}'];`],
  ],
  [
    'stacks share nothing',
    containing(construct, /\bexportName\b|\bimportValue\b|\bcrossRegionReferences\b|\bexportValue\b/),
    ['lib/stacks/region-stack.ts', "new CfnOutput(this, 'X', { value, exportName: 'x' });"],
  ],
];

const programs = sourcesIn('.ci', 'bin', 'cli', 'dashboard', 'domain', 'lambda', 'lib', 'local');
const tests = sourcesIn('test');

it.each(rules)('%s', (_, wrongIn, ...breaches) => {
  const found = [...programs, ...tests].flatMap((file) =>
    wrongIn(file).map((what) => `${file.path}: ${what}`),
  );
  expect(found).toEqual([]);
  for (const [path, text] of breaches)
    expect([text, wrongIn({ path, text })]).toEqual([text, [expect.any(String)]]);
});

it('no test reads the table of the operator', () => {
  expect(jest.requireActual('../../lib/environments')).toBe(own);
});

type Edge = readonly [from: string, to: string];

/** The edges of circles: without those that nothing leads to, or that lead to nothing, until only circles remain. */
function circles(edges: readonly Edge[]): readonly Edge[] {
  const [starts, ends] = [0, 1].map((end) => new Set(edges.map((edge) => edge[end])));
  const left = edges.filter(([from, to]) => starts?.has(to) && ends?.has(from));
  return left.length < edges.length ? circles(left) : left;
}

/** The circles of files or, by `nameOf`, of folders. */
const circlesOf = (files: readonly SourceFile[], nameOf = (path: string) => path) =>
  circles(
    files.flatMap((file) => {
      const from = nameOf(file.path.replace(/(\/index)?\.ts$/, ''));
      return importsOf(file)
        .map(({ name }): Edge => [from, nameOf(name)])
        .filter(([, to]) => to !== from);
    }),
  );
/** A folder of a program at each level, with what is in it; a file beside folders counts by itself. */
const levels = [2, 3, 4].map((level) => (path: string) => path.split('/').slice(0, level).join('/'));

it('neither files, types included, nor folders at any level import one another in a circle', () => {
  expect([undefined, ...levels].flatMap((nameOf) => circlesOf(programs, nameOf))).toEqual([]);
  expect(programs.filter(({ path }) => path.split('/').length > levels.length + 2)).toEqual([]);
  const start = { path: 'lib/api/a.ts', text: "import type { B } from '../network';" };
  const index = { path: 'lib/network/index.ts', text: "export * from './b';" };
  const back = { path: 'lib/network/b.ts', text: "import { a } from '../api/a';\nimport { c } from './c';" };
  expect(circlesOf([start, index, back])).toHaveLength(3);
  expect(circlesOf([start, back])).toEqual([]);
  expect(circlesOf([start, back], levels[0])).toHaveLength(2);
});
