import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dependencyFaults, type Manifest, neededOtherwise } from './dependencies';
import { projectRoot, sourcesIn } from './sources';

const manifest: Manifest = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'));

it('every dependency is used, and every imported package is a dependency', () => {
  const files = sourcesIn(
    '.ci',
    'bin',
    'cli',
    'dashboard',
    'domain',
    'lambda',
    'lib',
    'local',
    'test',
  ).filter(
    // Its fixtures contain imports.
    ({ path }) => !path.startsWith('test/architecture/'),
  );
  expect(dependencyFaults(manifest, files)).toEqual([]);
});

const needed = Object.fromEntries(Object.keys(neededOtherwise).map((name) => [name, '1.0.0']));
const small: Manifest = {
  dependencies: { pg: '1.0.0' },
  devDependencies: { ...needed, ajv: '1.0.0' },
  optionalDependencies: {},
};
const valid = [
  { path: 'lambda/a.ts', text: "import { Pool } from 'pg';" },
  { path: 'lib/a.ts', text: "import type { SQSEvent } from 'aws-lambda';\nimport { x } from './ajv';" },
  { path: 'test/a.ts', text: "import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';" },
];

it('a project that follows the rules has no fault', () => {
  expect(dependencyFaults(small, valid)).toEqual([]);
});

it.each([
  ["import yaml from 'yaml';", 'lib/b.ts imports yaml, which package.json does not list.'],
  ["import {\n  parse,\n} from 'yaml';", 'lib/b.ts imports yaml, which package.json does not list.'],
  [
    "import type { App } from '@scope/name/inside';",
    'lib/b.ts imports @scope/name, which package.json does not list.',
  ],
  ["const x = require.resolve('tsx');", 'lib/b.ts imports tsx, which package.json does not list.'],
  ["const x = await import('ajv');", 'lib/b.ts imports ajv: it belongs to dependencies.'],
  ["export * from 'ajv';", 'lib/b.ts imports ajv: it belongs to dependencies.'],
])('%s is a fault', (text, fault) => {
  expect(dependencyFaults(small, [...valid, { path: 'lib/b.ts', text }])).toEqual([fault]);
});

it('a dependency that only tests or no files import is a fault', () => {
  const [, ...others] = valid;
  expect(dependencyFaults(small, others)).toEqual(['Nothing imports pg.']);
  const tested = { path: 'test/b.ts', text: "import { Pool } from 'pg';" };
  expect(dependencyFaults(small, [...others, tested])).toEqual([
    'Only tests import pg: it belongs to devDependencies.',
  ]);
});

it('an exception for an unlisted package is a fault', () => {
  const { jest: _, ...devDependencies } = small.devDependencies;
  expect(dependencyFaults({ ...small, devDependencies }, valid)).toEqual([
    'jest is an exception, but not listed.',
  ]);
});
