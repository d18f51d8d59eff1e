import { DefaultStackSynthesizer } from 'aws-cdk-lib';
import { parse } from 'yaml';
import { findTarget } from '../../.ci/target';
import { githubEnvironments, type RoleKind, roleName } from '../../domain/workflow-roles';
import { stacksOf } from '../../lib/environment';
import { environments as table } from '../../lib/environments';
import { newcomer, withStandby } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { readWorkflows } from './workflows';
import { Workspace } from './workspace';

const workflows = readWorkflows();

it('no workflow names a stack, an environment, a region or an account: only the table does', () => {
  const words = table.flatMap((row) => [
    row.name,
    ...stacksOf(row).flatMap(({ stackId, region }) => [stackId, region]),
  ]);
  const named = new RegExp(`\\b(${words.join('|')}|\\d{12})\\b`);
  const lines = workflows.flatMap(({ text }) => text.split('\n'));
  expect(lines.filter((line) => named.test(line))).toEqual([]);
});

it('a job assumes a role only in the GitHub environment that the role trusts', () => {
  const kinds = new Set<string>();
  for (const { text } of workflows)
    for (const { environment, steps = [] } of Object.values<{ environment?: string; steps?: object[] }>(
      parse(text).jobs,
    ))
      for (const [, kind = '', row = ''] of JSON.stringify(steps).matchAll(
        /role\/wallet-(\w+)-(\$.+?\}\})/g,
      )) {
        kinds.add(kind);
        expect(environment).toBe(githubEnvironments(row)[kind as RoleKind]);
        expect(`wallet-${kind}-${row}`).toBe(roleName(kind as RoleKind, row));
      }
  expect(kinds).toEqual(new Set(Object.keys(githubEnvironments(''))));
});

it("the CDK's roles have the qualifier of the bootstrap", () => {
  const roles = workflows.flatMap(({ text }) =>
    Array.from(text.matchAll(/role\/cdk-(\w+)-/g), ([, name]) => name),
  );
  expect(new Set(roles)).toEqual(new Set([DefaultStackSynthesizer.DEFAULT_QUALIFIER]));
});

describe('a typed name', () => {
  const folder = temporaryFolder();

  it.each([
    ['environment', withStandby.name, withStandby.region, true],
    ['stack', withStandby.stackId, withStandby.region, true],
    ['stack', withStandby.standby.stackId, withStandby.standby.region, false],
  ])('%s %s is in the table', (kind, name, region, serves) => {
    const environment = withStandby.name;
    expect(findTarget(kind, name)).toEqual({ environment, region, serves: String(serves) });
  });

  it.each([
    ['stack', newcomer.stackId],
    ['stack', withStandby.name],
    ['environment', withStandby.stackId],
    ['environment', `${withStandby.name} `],
  ])('%s "%s" is refused', (kind, name) => {
    expect(() => findTarget(kind, name)).toThrow(`There is no ${kind} "${name}"`);
  });

  it('becomes outputs of a step', async () => {
    const { name: NAME, region } = withStandby;
    const step = 'node --require tsx/cjs .ci/target.ts "$KIND" "$NAME"';
    const { output } = await new Workspace(folder()).step(step, { KIND: 'environment', NAME });
    expect(output).toBe(`environment=${NAME}\nregion=${region}\nserves=true\n`);
  });
});
