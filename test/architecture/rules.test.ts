import { first } from '../support/rows';
import * as own from '../support/table';
import { type Import, importsOf, type SourceFile, sourcesIn } from './sources';

type Breach = readonly [path: string, text: string];
interface Rule {
  readonly title: string;
  readonly forbids?: (path: string, imported: Import) => boolean;
  /** What the files must not contain. Comments may. */
  readonly text?: readonly [of: (path: string) => boolean, forbidden: RegExp];
  readonly breaches: readonly [Breach, ...Breach[]];
}

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

/** Packages that some files must not import. */
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
const names = own.environments
  .flatMap(({ name, stackId, standby }) => [name, stackId, ...(standby ? [standby.stackId] : [])])
  .join('|');
/** Not constructs: the table and the template checks may compare names. */
const isConstruct = (path: string) => /^lib\/(?!environment\/|checks\/)/.test(path);
const anyOf = (...patterns: readonly string[]) => new RegExp(patterns.join('|'));

const rules: readonly Rule[] = [
  {
    title: 'each program imports itself, domain and its permitted others',
    forbids: (path, { name, isPackage }) =>
      !isPackage &&
      name !== 'package.json' &&
      permitted.some(([of, imports]) => of.test(path) && !imports.test(name)),
    breaches: [
      ['domain/event.ts', "import { x } from '../lib/environments';"],
      ['lib/api/api.ts', "import { problems } from '../../lambda/shared/problems';"],
      ['cli/callers/token.ts', "import { Environment } from '../../lib/environment/schema';"],
      ['.ci/print-diff.ts', "import { createApp } from '../lib/environments-app';"],
    ],
  },
  {
    title: 'domain, the page, functions and use cases import only their packages',
    forbids: (path, { name, isPackage }) =>
      isPackage && forbiddenPackages.some(([of, packages]) => of.test(path) && packages.test(name)),
    breaches: [
      ['domain/event.ts', "import { readFileSync } from 'node:fs';"],
      ['lambda/shared/a.ts', "import { RDSDataClient } from '@aws-sdk/client-rds-data';"],
      ['lambda/purge-expired/handler.ts', "import { Pool } from 'pg';"],
      ['lambda/delete-user-group/delete-user-group.ts', "import { KMS } from '@aws-sdk/client-kms';"],
    ],
  },
  {
    title:
      'functions import neither each other nor, from what they share, back: move it to lambda/shared or lambda/database',
    forbids: (path, { name }) =>
      path.startsWith('lambda/') && ![undefined, handlerOf(path)].includes(handlerOf(name)),
    breaches: [
      ['lambda/deliver-webhook/a.ts', "import { x } from '../fan-out-event/request';"],
      ['lambda/shared/a.ts', "import { x } from '../delete-user-group/request';"],
    ],
  },
  {
    title:
      'folders of local do not import the files that put them together: move what they share to local/shared',
    forbids: (path, { name }) => /^local\/\w+\//.test(path) && /^local\/[\w-]+$/.test(name),
    breaches: [['local/aws/services.ts', "import { startLocal } from '../start';"]],
  },
  {
    title: 'the page stores nothing but the reader’s choices, and never parses text as markup',
    text: [
      (path) => path.startsWith('dashboard/'),
      /\b(?:localStorage(?!\.[gs]etItem\(key\b)|(?:sessionStorage|indexedDB|cookie|innerHTML|outerHTML|insertAdjacentHTML|eval)\b)/,
    ],
    breaches: [
      ['dashboard/dom.ts', "localStorage.setItem('token', token);"],
      ['dashboard/dom.ts', 'document.body.innerHTML = token;'],
    ],
  },
  {
    title: 'process.env is read where a function is put together, and in bin',
    text: [
      (path) => !/^((\.ci|bin|test)\/|lambda\/[^/]+\/handler\.ts$)/.test(path),
      /process\s*\.\s*env\b|process\[|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b/,
    ],
    breaches: [
      ['lambda/shared/a.ts', 'const x = process.env.REGION;'],
      ['lib/api/api.ts', 'const { env } = process;'],
    ],
  },
  {
    title: "constructs never branch on an environment's name",
    text: [
      isConstruct,
      anyOf(
        String.raw`\b(?:name|environmentName|stackId|stackName)\s*[!=]=`,
        String.raw`[!=]==?\s*(?:\w+\.)*environment\.name\b`,
        String.raw`switch\s*\([^)]*\b(?:name|stackId)\)`,
        String.raw`(?:[!=]==|case)\s*['"](?:${names})['"]`,
      ),
    ],
    breaches: [
      ['lib/api/api.ts', `if (environment.name === '${first.name}') {}`],
      ['lib/api/api.ts', `const x = kind === '${first.name}' ? 1 : 2;`],
    ],
  },
  {
    title: "tests read their own table, never the operator's: test/support/table.ts",
    forbids: (path, { name }) =>
      /^test\/(?!runs\/|support\/local-environment\.ts)/.test(path) && name === 'lib/environments',
    breaches: [['test/cli/a.test.ts', "import { environments } from '../../lib/environments';"]],
  },
  {
    // Fictitious rows and stacks may have any name.
    title: 'tests pick an environment by what it has, not by its name',
    text: [
      (path) => /^test\/(?!architecture\/)/.test(path),
      anyOf(
        String.raw`(?:===|!==|\bcase|--environment['"],)\s*['"](?:${names})['"]`,
        String.raw`\b(?:stacks|templates|baseline|outputs)(?:\??\.|\[['"])(?:${names})\b`,
        String.raw`--environment[ =](?:${names})\b`,
      ),
    ],
    breaches: [
      ['test/local/a.test.ts', `environments.find(({ name }) => name === '${first.name}')`],
      ['test/local/a.test.ts', `const { Resources } = templates['${first.stackId}'];`],
    ],
  },
  {
    title: 'stacks share nothing',
    text: [isConstruct, /\bexportName\b|\bimportValue\b|\bcrossRegionReferences\b|\bexportValue\b/],
    breaches: [['lib/stacks/region-stack.ts', "new CfnOutput(this, 'X', { value, exportName: 'x' });"]],
  },
];

function breachesOf(
  { forbids = () => false, text: [of, forbidden] = [() => false, /./] }: Rule,
  file: SourceFile,
) {
  const imported = importsOf(file).filter((each) => forbids(file.path, each));
  const code = file.text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const found = of(file.path) ? forbidden.exec(code)?.[0] : undefined;
  return [...imported.map(({ name }) => name), ...(found ? [found] : [])].map(
    (what) => `${file.path}: ${what}`,
  );
}

const programs = sourcesIn('.ci', 'bin', 'cli', 'dashboard', 'domain', 'lambda', 'lib', 'local');
const tests = sourcesIn('test');

it.each(rules)('$title', (rule) => {
  expect([...programs, ...tests].flatMap((file) => breachesOf(rule, file))).toEqual([]);
  for (const [path, text] of rule.breaches)
    expect([text, breachesOf(rule, { path, text })]).toEqual([text, [expect.stringContaining(path)]]);
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
