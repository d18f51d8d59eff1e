import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectRoot } from '../architecture/sources';
import { withSla } from '../support/rows';
import { stackOf } from '../support/stacks';
import { readWorkflows } from './workflows';

const read = (file: string) => readFileSync(join(projectRoot, file), 'utf8');
const version = read('.nvmrc').trim();

it('.nvmrc has the version of the functions and of every workflow without a version matrix', () => {
  const runtimes = stackOf(withSla).all('AWS::Lambda::Function');
  const versions = readWorkflows().flatMap(({ text }) =>
    Array.from(text.matchAll(/node-version: (\d+)/g), ([, named]) => named),
  );
  expect(new Set(versions)).toEqual(new Set([version]));
  expect(new Set(runtimes.map(({ Properties }) => Properties.Runtime))).toEqual(
    new Set([`nodejs${version}.x`]),
  );
});

it('the dev container uses the image of the check workflow, as a non-root user', () => {
  const { image } = parse(read('.github/workflows/check.yml')).jobs.checks.container;
  expect(JSON.parse(read('.devcontainer/devcontainer.json'))).toMatchObject({ image, remoteUser: 'node' });
  expect(image).toContain(`node:${version}-`);
});
