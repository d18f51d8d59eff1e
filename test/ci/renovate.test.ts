import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { databaseVersion } from '../../lib/database/cluster';
import { projectRoot } from '../architecture/sources';

const read = (file: string) => JSON.parse(readFileSync(join(projectRoot, file), 'utf8'));
const manifest = read('package.json');
const { packageRules }: { packageRules: { matchPackageNames?: string[]; allowedVersions?: string }[] } =
  read('.github/renovate.json');

it.each([
  ['aws-cdk', '<3.0.0'],
  ['@types/node', `<${Number(/\d+/.exec(manifest.engines.node)?.[0]) + 1}.0.0`],
])('Renovate proposes only versions of %s that work: %s', (name, limit) => {
  const rules = packageRules.filter(({ matchPackageNames }) => matchPackageNames?.includes(name));
  expect(rules.flatMap(({ allowedVersions = [] }) => allowedVersions)).toEqual([limit]);
});

it('the local PostgreSQL has the version of the stacks', () => {
  const [version, ...others] = new Set(Object.values(manifest.optionalDependencies));
  expect(others).toEqual([]);
  expect(version).toMatch(new RegExp(`^${databaseVersion.auroraPostgresFullVersion}\\.`));
});
