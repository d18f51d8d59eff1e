import { first } from '../support/rows';
import { ruleNames, violations } from './rules';
import { sourcesIn } from './sources';

it('the source keeps the rules of the layout', () => {
  const files = sourcesIn('bin', 'cli', 'dashboard', 'domain', 'lambda', 'lib', 'local').filter(({ path }) =>
    path.endsWith('.ts'),
  );
  expect(files.length).toBeGreaterThan(50);
  expect(violations(files)).toEqual([]);
});

it('the tests keep the one rule that is theirs', () => {
  const files = sourcesIn('test').filter(({ path }) => path.endsWith('.ts'));
  const broken = violations(files).filter(({ rule }) => rule.startsWith('tests '));
  expect(broken).toEqual([]);
});

const broken: Readonly<Record<string, readonly (readonly [path: string, text: string])[]>> = {
  'domain imports itself and what is pure': [
    ['domain/a.ts', "import { x } from '../lambda/shared/log';"],
    ['domain/a.ts', "import { KMSClient } from '@aws-sdk/client-kms';"],
    ['domain/a.ts', "import { readFileSync } from 'node:fs';"],
  ],
  'lambda never imports lib, bin or the CDK': [
    ['lambda/shared/a.ts', "import { x } from '../../lib/environments';"],
    ['lambda/shared/a.ts', "import { Stack } from 'aws-cdk-lib';"],
    ['lambda/shared/a.ts', "const x = await import('../../bin/app');"],
  ],
  'lib imports nothing of lambda but environment files': [
    ['lib/api/region-api.ts', "import { problems } from '../../lambda/shared/problem';"],
    ['lib/api/region-api.ts', "export * from '../../lambda/shared/problem';"],
  ],
  'the page imports itself, allow-lists and the types of environments alone': [
    ['dashboard/page.ts', "import { randomBytes } from 'node:crypto';"],
    ['dashboard/verifier/verify.ts', "import { environments } from '../../lib/environments';"],
  ],
  'lib imports nothing of the page but its facts': [
    ['lib/dashboard/page.ts', "import { verify } from '../../dashboard/verifier/verify';"],
  ],
  'the page keeps nothing, and makes no markup of text': [
    ['dashboard/dom.ts', "localStorage.setItem('token', token);"],
  ],
  'lib never imports bin': [['lib/app.ts', "import '../bin/app';"]],
  'only the app is outside of the rooms of lib': [['lib/app.ts', "import { x } from './helpers';"]],
  'no circles of imports': [['lib/api/a.ts', "import type { A } from './a';"]],
  'no use case imports another': [
    ['lambda/deliver-webhook/a.ts', "import { x } from '../fan-out-event/request';"],
  ],
  'what use cases share knows no use case': [
    ['lambda/shared/a.ts', "import { x } from '../delete-user-group/request';"],
  ],
  'a decision knows ports, not AWS': [
    ['lambda/delete-user-group/delete-user-group.ts', "import { KMSClient } from '@aws-sdk/client-kms';"],
  ],
  'handlers and requests make no clients': [
    ['lambda/deliver-webhook/handler.ts', "import { SQSClient } from '@aws-sdk/client-sqs';"],
  ],
  'only the data-api adapter imports the RDS Data client': [
    ['lambda/shared/a.ts', "import { RDSDataClient } from '@aws-sdk/client-rds-data';"],
  ],
  'only the direct adapter imports pg': [
    ['lambda/purge-expired/dependencies.ts', "import { Pool } from 'pg';"],
  ],
  'process.env is read in dependencies.ts and bin only': [
    ['lambda/shared/a.ts', 'const x = process.env.REGION;'],
    ['lib/api/region-api.ts', "const x = process['env'];"],
    ['lib/api/region-api.ts', 'const { env } = process;'],
  ],
  "constructs never branch on an environment's name": [
    ['lib/api/region-api.ts', `if (environment.name === '${first.name}') {}`],
    ['lib/api/region-api.ts', 'switch (environment.name) {}'],
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
    'lambda/delete-user-group/dependencies.ts',
    "import { connectDatabase } from '../database/connect';\nprocess.env.X;",
  ],
  ['lambda/database/direct.ts', "import { Pool } from 'pg';"],
  [
    'lib/api/region-api.ts',
    '// environment.name === would be a breach\nconst x = environment.serviceLevelAgreement ? 1 : 2;',
  ],
])('%s may do what it does', (path, text) => {
  expect(violations([{ path, text }])).toEqual([]);
});

it('finds a circle through other files, types included, and names each of its imports', () => {
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

it('every rule has a fixture that breaks it', () => {
  expect(Object.keys(broken).sort()).toEqual([...ruleNames].sort());
});
