import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { databaseVersion } from '../../lib/database/cluster';
import { projectRoot } from '../architecture/sources';
import { withSla } from '../support/rows';
import { stackOf } from '../support/stacks';
import { workflows } from './workspace';

const read = (file: string) => readFileSync(join(projectRoot, file), 'utf8');
const manifest = JSON.parse(read('package.json'));

it('functions, workflows and the dev container have the version of Node.js in .nvmrc', () => {
  const version = read('.nvmrc').trim();
  const runtimes = stackOf(withSla).all('AWS::Lambda::Function');
  const versions = workflows.flatMap(({ text }) => text.match(/(?<=node-version: )\d+/g) ?? []);
  expect(new Set(versions)).toEqual(new Set([version]));
  for (const { Properties } of runtimes) expect(Properties.Runtime).toBe(`nodejs${version}.x`);
  const { image } = parse(read('.github/workflows/check.yml')).jobs.checks.container;
  expect(image).toContain(`node:${version}-`);
  expect(JSON.parse(read('.devcontainer/devcontainer.json'))).toMatchObject({ image, remoteUser: 'node' });
});

it('the local PostgreSQL has the version of the stacks', () => {
  const [version, ...others] = new Set(Object.values(manifest.optionalDependencies));
  expect(others).toEqual([]);
  expect(version).toMatch(new RegExp(`^${databaseVersion.auroraPostgresFullVersion}\\.`));
});
