import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { projectRoot } from '../architecture/sources';
import { withDirectAccess } from '../support/rows';
import { type Resource, stackOf } from '../support/stacks';

const trial: Readonly<Record<string, Resource>> = parse(
  readFileSync(join(projectRoot, 'docs/region-trial.yaml'), 'utf8'),
).Resources;

it.each([
  ['Function', ['Architectures', 'Runtime']],
  ['Api', ['EndpointConfiguration', 'EndpointAccessMode', 'SecurityPolicy']],
])('docs/region-trial.yaml tries the %s of the stacks', (logicalId, names) => {
  const { Type = '', Properties } = trial[logicalId] ?? {};
  const tried = names.map((name) => Properties[name]);
  const used = stackOf(withDirectAccess)
    .all(Type)
    .map((resource) => names.map((name) => resource.Properties[name]));
  expect(new Set(used.map((each) => JSON.stringify(each)))).toEqual(new Set([JSON.stringify(tried)]));
});
