import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { databaseVersion } from '../../lib/database/cluster';
import { projectRoot } from '../architecture/sources';

interface Rule {
  readonly matchDepTypes?: readonly string[];
  readonly matchPackageNames?: readonly string[];
  readonly groupName?: string;
  readonly allowedVersions?: string;
}

const read = (file: string) => JSON.parse(readFileSync(join(projectRoot, file), 'utf8'));
const { packageRules: rules }: { packageRules: readonly Rule[] } = read('.github/renovate.json');
const manifest = read('package.json');
const types = ['dependencies', 'devDependencies', 'optionalDependencies'];
const packages = types.flatMap((type) => Object.keys(manifest[type]).map((name) => ({ type, name })));

const named = (pattern: string, name: string) =>
  pattern.endsWith('/**') ? name.startsWith(pattern.slice(0, -2)) : name === pattern;
const matches = ({ matchDepTypes, matchPackageNames }: Rule, { type, name }: (typeof packages)[number]) =>
  (matchDepTypes === undefined || matchDepTypes.includes(type)) &&
  (matchPackageNames === undefined || matchPackageNames.some((pattern) => named(pattern, name)));
const rulesFor = (each: (typeof packages)[number]) =>
  rules.filter((rule) => (rule.matchDepTypes ?? rule.matchPackageNames) && matches(rule, each));

it.each(packages)('$name has a group', (each) => {
  expect(rulesFor(each).flatMap(({ groupName }) => groupName ?? [])).not.toEqual([]);
});

it('every name in a rule is that of a package which is used', () => {
  const patterns = rules.flatMap(({ matchPackageNames = [] }) => matchPackageNames);
  expect(patterns.filter((pattern) => !packages.some(({ name }) => named(pattern, name)))).toEqual([]);
});

it.each([
  ['aws-cdk', '<3.0.0'],
  ['@types/node', `<${Number(/\d+/.exec(manifest.engines.node)?.[0]) + 1}.0.0`],
])('%s stays below what does not work: %s', (name, limit) => {
  const found = rulesFor({ type: 'devDependencies', name });
  expect(found.flatMap(({ allowedVersions }) => allowedVersions ?? [])).toEqual([limit]);
});

it('the local PostgreSQL has the version of the stacks', () => {
  const versions = Object.values(manifest.optionalDependencies);
  expect(new Set(versions).size).toBe(1);
  expect(versions[0]).toMatch(new RegExp(`^${databaseVersion.auroraPostgresFullVersion}\\.`));
});
