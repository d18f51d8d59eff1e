import { readdirSync } from 'node:fs';
import { first } from '../support/rows';
import { ruleNames, violations } from './rules';
import { projectRoot, sourcesIn } from './sources';

const programs = readdirSync(projectRoot).filter((folder) =>
  /^(\.ci|bin|cli|dashboard|domain|lambda|lib|local)$/.test(folder),
);

it('the source follows the rules of the layout', () => {
  const files = programs.flatMap((folder) => sourcesIn(folder)).filter(({ path }) => path.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(50);
  expect(violations(files)).toEqual([]);
});

it('the tests follow their one rule', () => {
  const files = sourcesIn('test').filter(({ path }) => path.endsWith('.ts'));
  const broken = violations(files).filter(({ rule }) => rule.startsWith('tests '));
  expect(broken).toEqual([]);
});

const broken: Readonly<Record<string, readonly (readonly [path: string, text: string])[]>> = {
  'each program imports itself, domain and its permitted others': [
    ['domain/event.ts', "import { x } from '../lib/environments';"],
    ['lambda/shared/a.ts', "import { x } from '../../lib/environments';"],
    ['lib/api/region-api.ts', "import { problems } from '../../lambda/shared/problem';"],
    ['lib/app.ts', "import '../bin/app';"],
    ['cli/token.ts', "import { Environment } from '../lib/environment';"],
    ['local/region.ts', "import { environments } from '../lib/environments';"],
    ['dashboard/verifier/verify.ts', "import { environments } from '../../lib/environments';"],
    ['.ci/target.ts', "import { names } from '../lib/account/names';"],
  ],
  'an entry point imports domain and the program that it starts': [
    ['bin/app.ts', "import { createTerminal } from '../cli/terminal';"],
    ['bin/wallet.ts', "import { environments } from '../lib/environments';"],
  ],
  'domain is pure': [
    ['domain/event.ts', "import { readFileSync } from 'node:fs';"],
    ['domain/event.ts', "import { SQSClient } from '@aws-sdk/client-sqs';"],
  ],
  'lambda never imports the CDK': [['lambda/shared/a.ts', "import { Stack } from 'aws-cdk-lib';"]],
  'the page imports no package': [['dashboard/page.ts', "import { randomBytes } from 'node:crypto';"]],
  'the page keeps nothing, and makes no markup of text': [
    ['dashboard/dom.ts', "localStorage.setItem('token', token);"],
  ],
  'what is outside of the folders of lib is known': [['lib/app.ts', "import { x } from './helpers';"]],
  'no circles of imports': [['lib/api/a.ts', "import type { A } from './a';"]],
  'no circles between folders': [],
  'no use case imports another': [
    ['lambda/deliver-webhook/a.ts', "import { x } from '../fan-out-event/request';"],
  ],
  'what use cases share knows no use case': [
    ['lambda/shared/a.ts', "import { x } from '../delete-user-group/request';"],
  ],
  'a decision knows ports, not AWS': [
    ['lambda/delete-user-group/delete-user-group.ts', "import { KMSClient } from '@aws-sdk/client-kms';"],
  ],
  'only the data-api adapter imports the RDS Data client': [
    ['lambda/shared/a.ts', "import { RDSDataClient } from '@aws-sdk/client-rds-data';"],
  ],
  'only the direct adapter imports pg': [['lambda/purge-expired/handler.ts', "import { Pool } from 'pg';"]],
  'process.env is read where a function is put together and in bin': [
    ['lambda/shared/a.ts', 'const x = process.env.REGION;'],
    ['lib/api/region-api.ts', "const x = process['env'];"],
    ['lib/api/region-api.ts', 'const { env } = process;'],
  ],
  "constructs never branch on an environment's name": [
    ['lib/api/region-api.ts', `if (environment.name === '${first.name}') {}`],
    ['lib/api/region-api.ts', `const x = kind === '${first.name}' ? 1 : 2;`],
  ],
  'tests pick an environment by what it has, not by its name': [
    ['test/local/a.test.ts', `environments.find(({ name }) => name === '${first.name}')`],
    ['test/local/a.test.ts', `const { json } = stacks.${first.name};`],
    ['test/local/a.test.ts', `const { Resources } = templates['${first.stackId}'];`],
    ['test/local/a.test.ts', `await wallet('seed', '--environment', '${first.name}');`],
    ['test/local/a.test.ts', `await run("wallet seed --environment ${first.name}");`],
  ],
  'stacks share nothing': [
    ['lib/stacks/region-stack.ts', "new CfnOutput(this, 'X', { value, exportName: 'x' });"],
    ['lib/stacks/region-stack.ts', "Fn.importValue('x');"],
  ],
};

it.each(Object.entries(broken).flatMap(([rule, files]) => files.map((file) => [rule, ...file] as const)))(
  '%s: a breach in %s is found',
  (rule, path, text) => {
    expect(violations([{ path, text }]).map((violation) => violation.rule)).toContain(rule);
  },
);

it.each([
  ['bin/app.ts', "import { createApp } from '../lib/app';\nprocess.env.CDK_DEFAULT_ACCOUNT;"],
  ['lib/database/region-database.ts', "import { databaseRoles } from '../../lambda/database/environment';"],
  [
    'lambda/delete-user-group/handler.ts',
    "import { connectDatabase } from '../database/connect';\nprocess.env.X;",
  ],
  ['lambda/database/direct.ts', "import { Pool } from 'pg';"],
  [
    'lib/api/region-api.ts',
    '// environment.name === would be a breach\nconst x = environment.serviceLevelAgreement ? 1 : 2;',
  ],
])('%s breaks no rule', (path, text) => {
  expect(violations([{ path, text }])).toEqual([]);
});

it('finds an import cycle through other files, including types, and names each import', () => {
  const files = [
    { path: 'lib/api/a.ts', text: "import type { B } from '../network';" },
    { path: 'lib/network/index.ts', text: "export * from './b';" },
    { path: 'lib/network/b.ts', text: "import { a } from '../api/a';\nimport { c } from './c';" },
    { path: 'lib/network/c.ts', text: '' },
  ];
  const circles = violations(files).filter(({ rule }) => rule === 'no circles of imports');
  expect(circles.map(({ path, found }) => `${path} > ${found}`)).toEqual([
    'lib/api/a.ts > lib/network',
    'lib/network/index.ts > lib/network/b',
    'lib/network/b.ts > lib/api/a',
  ]);
});

it('finds a cycle between folders whose files have none', () => {
  const files = [
    { path: 'lib/api/a.ts', text: "import { b } from '../network/b';\nimport { d } from './d';" },
    { path: 'lib/network/b.ts', text: "import { e } from '../environment';" },
    { path: 'lib/network/c.ts', text: "import type { D } from '../api/d';" },
    { path: 'lib/api/d.ts', text: "import { e } from '../environment';" },
  ];
  expect(violations(files).map(({ rule, path, found }) => `${rule}: ${path} > ${found}`)).toEqual([
    'no circles between folders: lib/api/a.ts > lib/network/b',
    'no circles between folders: lib/network/c.ts > lib/api/d',
  ]);
});

it('every rule has a fixture that breaks it', () => {
  expect(Object.keys(broken).sort()).toEqual([...ruleNames].sort());
});
