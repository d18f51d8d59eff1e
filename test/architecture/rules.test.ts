import { environments } from '../../lib/environments';
import { first } from '../support/rows';
import { importsOf, type SourceFile, sourcesIn } from './sources';

type Breach = readonly [path: string, text: string];
interface Rule {
  readonly title: string;
  /** Whether a file must not import this: a package, or a path without ending. */
  readonly forbids?: (path: string, imported: string) => boolean;
  /** What the files must not contain. Comments may. */
  readonly text?: readonly [of: (path: string) => boolean, forbidden: RegExp];
  readonly breaches: readonly [Breach, ...Breach[]];
}

/** What each program imports of the project. The three programs share files and `domain`. */
const permitted: readonly (readonly [of: RegExp, imports: RegExp])[] = [
  [/^\.ci\//, /^(\.ci|cli|domain)\/|^lib\/environments$/],
  [/^bin\/(account|app)\.ts$/, /^(bin|domain|lib)\//],
  [/^bin\/local\.ts$/, /^(bin|domain|local)\//],
  [/^bin\/wallet\.ts$/, /^(bin|domain|cli)\//],
  [/^bin\/(?!(account|app|local|wallet)\.ts$)/, /^(bin|domain)\//],
  [/^cli\//, /^(cli|domain)\/|^lib\/environments$/],
  [/^dashboard\//, /^(dashboard|domain)\//],
  [/^domain\//, /^domain\//],
  [/^lambda\//, /^(lambda|domain)\//],
  [/^lib\//, /^(lib|domain)\/|^lambda\/[^/]+\/environment$/],
  [/^local\//, /^(local|domain)\//],
];

const isOfProject = (imported: string) =>
  /^(\.ci|bin|cli|dashboard|domain|lambda|lib|local|test)\//.test(imported);
const isPackage = (imported: string, ...names: readonly string[]) =>
  names.some((name) => imported === name || imported.startsWith(`${name}/`));
const isIn = (path: string, folder: string) => path.startsWith(`${folder}/`);

/** The use case of a path; undefined for the shared folders and outside `lambda`. */
const useCaseOf = (path: string) => /^lambda\/(?!database|shared|tokens|webhooks)([^/]+)\//.exec(path)?.[1];

/** Names of environments and of their stacks, in a regular expression. */
const names = environments
  .flatMap(({ name, stackId, standby }) => [name, stackId, ...(standby ? [standby.stackId] : [])])
  .join('|');
/** Not constructs: the table's validation and the template checks may compare names. */
const isConstruct = (path: string) => /^lib\/(?!environments?\.ts|checks\/)/.test(path);
const anyOf = (...patterns: readonly string[]) => new RegExp(patterns.join('|'));

const rules: readonly Rule[] = [
  {
    title: 'each program imports itself, domain and its permitted others',
    forbids: (path, imported) =>
      isOfProject(imported) && permitted.some(([of, imports]) => of.test(path) && !imports.test(imported)),
    breaches: [
      ['domain/event.ts', "import { x } from '../lib/environments';"],
      ['lambda/shared/a.ts', "import { x } from '../../lib/environments';"],
      ['lib/api/api.ts', "import { problems } from '../../lambda/shared/problem';"],
      ['lib/app.ts', "import '../bin/app';"],
      ['cli/token.ts', "import { Environment } from '../lib/environment';"],
      ['local/region.ts', "import { environments } from '../lib/environments';"],
      ['dashboard/verify.ts', "import { environments } from '../lib/environments';"],
      ['.ci/diff-report.ts', "import { createApp } from '../lib/app';"],
      ['bin/local.ts', "import { environments } from '../lib/environments';"],
    ],
  },
  {
    title: 'domain is pure',
    forbids: (path, imported) =>
      isIn(path, 'domain') &&
      !isOfProject(imported) &&
      !['ipaddr.js', 'node:crypto', 'node:net', 'valibot'].includes(imported),
    breaches: [['domain/event.ts', "import { readFileSync } from 'node:fs';"]],
  },
  {
    title: 'lambda never imports the CDK',
    forbids: (path, imported) => isIn(path, 'lambda') && isPackage(imported, 'aws-cdk-lib', 'constructs'),
    breaches: [['lambda/shared/a.ts', "import { Stack } from 'aws-cdk-lib';"]],
  },
  {
    title: 'no use case imports another, nor does what they share know one',
    forbids: (path, imported) =>
      isIn(path, 'lambda') && ![undefined, useCaseOf(path)].includes(useCaseOf(imported)),
    breaches: [
      ['lambda/deliver-webhook/a.ts', "import { x } from '../fan-out-event/request';"],
      ['lambda/shared/a.ts', "import { x } from '../delete-user-group/request';"],
    ],
  },
  {
    title: 'a use case imports ports, not AWS',
    forbids: (path, imported) =>
      path === `lambda/${useCaseOf(path)}/${useCaseOf(path)}.ts` &&
      isPackage(imported, '@aws-sdk', '@smithy', 'pg'),
    breaches: [
      ['lambda/delete-user-group/delete-user-group.ts', "import { KMSClient } from '@aws-sdk/client-kms';"],
    ],
  },
  {
    title: "only the Data API's adapter imports its client, and only the direct one pg",
    forbids: (path, imported) =>
      isIn(path, 'lambda') &&
      ((path !== 'lambda/database/data-api.ts' && isPackage(imported, '@aws-sdk/client-rds-data')) ||
        (path !== 'lambda/database/direct.ts' && isPackage(imported, 'pg'))),
    breaches: [
      ['lambda/shared/a.ts', "import { RDSDataClient } from '@aws-sdk/client-rds-data';"],
      ['lambda/purge-expired/handler.ts', "import { Pool } from 'pg';"],
    ],
  },
  {
    title: 'the page imports no package',
    forbids: (path, imported) => isIn(path, 'dashboard') && !isOfProject(imported),
    breaches: [['dashboard/page.ts', "import { randomBytes } from 'node:crypto';"]],
  },
  {
    title: 'the page stores nothing, and never parses text as markup',
    text: [
      (path) => isIn(path, 'dashboard'),
      /\b(?:localStorage|sessionStorage|indexedDB|cookie|innerHTML|outerHTML|insertAdjacentHTML|eval)\b/,
    ],
    breaches: [['dashboard/dom.ts', "localStorage.setItem('token', token);"]],
  },
  {
    title: 'process.env is read where a function is put together, and in bin',
    text: [
      (path) => !/^((\.ci|bin|test)\/|lambda\/[^/]+\/handler\.ts$)/.test(path),
      /process\s*\.\s*env\b|process\[|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b/,
    ],
    breaches: [
      ['lambda/shared/a.ts', 'const x = process.env.REGION;'],
      ['lib/api/api.ts', "const x = process['env'];"],
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
    // Fictitious rows and stacks may have any name. One file checks names that others rely on.
    title: 'tests pick an environment by what it has, not by its name',
    text: [
      (path) => /^test\/(?!architecture\/|constructs\/environment-table\.test\.ts)/.test(path),
      anyOf(
        String.raw`(?:===|!==|\bcase|--environment['"],)\s*['"](?:${names})['"]`,
        String.raw`\b(?:stacks|templates|baseline|outputs)(?:\??\.|\[['"])(?:${names})\b`,
        String.raw`--environment[ =](?:${names})\b`,
      ),
    ],
    breaches: [
      ['test/local/a.test.ts', `environments.find(({ name }) => name === '${first.name}')`],
      ['test/local/a.test.ts', `const { Resources } = templates['${first.stackId}'];`],
      ['test/local/a.test.ts', `await run("wallet seed --environment ${first.name}");`],
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
  const imported = importsOf(file).filter(({ name }) => forbids(file.path, name));
  const code = file.text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const found = of(file.path) ? forbidden.exec(code)?.[0] : undefined;
  return [...imported.map(({ name }) => name), ...(found ? [found] : [])].map(
    (what) => `${file.path}: ${what}`,
  );
}

const isTypeScript = ({ path }: SourceFile) => path.endsWith('.ts');
const programs = sourcesIn('.ci', 'bin', 'cli', 'dashboard', 'domain', 'lambda', 'lib', 'local').filter(
  isTypeScript,
);
const tests = sourcesIn('test').filter(isTypeScript);

it.each(rules)('$title', (rule) => {
  expect([...programs, ...tests].flatMap((file) => breachesOf(rule, file))).toEqual([]);
  for (const [path, text] of rule.breaches)
    expect([text, breachesOf(rule, { path, text })]).toEqual([text, [expect.stringContaining(path)]]);
});

/** Every import that leads back to its own file, or from its own folder to itself through others. */
function circles(files: readonly SourceFile[], nodeOf: (path: string) => string): readonly string[] {
  const edges = files.flatMap((file) => {
    const path = file.path.replace(/(\/index)?\.ts$/, '');
    return importsOf(file).map(({ name }) => ({ from: nodeOf(path), to: nodeOf(name), path, name }));
  });
  const next = new Map<string, string[]>();
  for (const { from, to } of edges) next.set(from, [...(next.get(from) ?? []), to]);
  function leadsTo(target: string, from: string, visited: Set<string>): boolean {
    if (from === target) return true;
    if (visited.has(from)) return false;
    visited.add(from);
    return (next.get(from) ?? []).some((to) => leadsTo(target, to, visited));
  }
  return edges
    .filter(({ from, to, path, name }) => (from !== to || path === name) && leadsTo(from, to, new Set()))
    .map(({ path, name }) => `${path} > ${name}`);
}

/** A folder of a program; a file beside the folders counts by itself. */
const folderOf = (path: string) => path.split('/').slice(0, 2).join('/');

it.each([
  ['files, types included', (path: string) => path],
  ['folders', folderOf],
])('there are no circles between %s', (_, nodeOf) => {
  expect(circles(programs, nodeOf)).toEqual([]);
});

it('finds circles of files through others, and of folders whose files have none', () => {
  const files = [
    { path: 'lib/api/a.ts', text: "import type { B } from '../network';" },
    { path: 'lib/network/index.ts', text: "export * from './b';" },
    { path: 'lib/network/b.ts', text: "import { a } from '../api/a';\nimport { c } from './c';" },
    { path: 'lib/network/c.ts', text: '' },
  ];
  expect(circles(files, (path) => path)).toEqual([
    'lib/api/a > lib/network',
    'lib/network > lib/network/b',
    'lib/network/b > lib/api/a',
  ]);
  const apart = [
    { path: 'lib/api/a.ts', text: "import { b } from '../network/b';\nimport { d } from './d';" },
    { path: 'lib/network/c.ts', text: "import type { D } from '../api/d';\nimport '../environment';" },
  ];
  expect(circles(apart, (path) => path)).toEqual([]);
  expect(circles(apart, folderOf)).toEqual(['lib/api/a > lib/network/b', 'lib/network/c > lib/api/d']);
});
