import { App } from 'aws-cdk-lib';
import { AccountStack } from '../../lib/account/account-stack';
import { type Environment, inForce } from '../../lib/environment/schema';
import { GuardrailsStack } from '../../lib/guardrails/guardrails-app';
import { workflows } from '../ci/workspace';
import { textOf } from '../support/region-api';
import { withStandby } from '../support/rows';
import { type Json, withApp } from '../support/stacks';
import { environments } from '../support/table';
import { accountResources, settingsOf } from './account-resources';
import { permissionsOf } from './documented-permissions';

const { name, standby } = withStandby;
const issuer = 'token.actions.githubusercontent.com';
const resources = accountResources(settingsOf());
const title = name.replace(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase());
const roleOf = (kind: string, of = resources): Json => of[`${kind}${title}Role`].Properties;

it('the workflows assume the roles by their names, for steps of two and a half hours', () => {
  for (const kind of ['Deploy', 'Operate', 'Read', 'Drift'])
    expect(roleOf(kind)).toMatchObject({
      RoleName: `wallet-${kind.toLowerCase()}-${name}`,
      MaxSessionDuration: 150 * 60,
    });
  // People only with the setting "operators".
  expect(roleOf('Operate').AssumeRolePolicyDocument.Statement).toHaveLength(1);
  const durations = workflows.flatMap(({ text }) => text.match(/(?<=role-duration-seconds: )\d+/g) ?? []);
  expect(Math.max(...durations.map(Number))).toBe(150 * 60);
});

it('trusts tokens that GitHub made for AWS, and is not deleted by mistake', () => {
  expect(resources.GithubProvider.Properties).toMatchObject({
    Url: `https://${issuer}`,
    ClientIdList: ['sts.amazonaws.com'],
  });
  expect(new AccountStack(new App(), settingsOf()).terminationProtection).toBe(true);
});

it('a promotion changes no role and no guardrail: those of the first day cover both regions', () => {
  const templatesOf = (row: Environment) =>
    withApp((app) => {
      new AccountStack(app, { ...settingsOf(), environments: [row] });
      new GuardrailsStack(app, {
        environment: row,
        account: '111122223333',
        organization: 'o-abcdefghij',
        actionsOnly: false,
      });
      return app.synth().stacks.map(({ stackName, template }) => ({ stackName, template }));
    });
  const serving = inForce({ ...withStandby, standby: { ...standby, serves: true } });
  expect(serving.region).toBe(standby.region);
  expect(templatesOf(serving)).toEqual(templatesOf(withStandby));
});

it('trusts immutable subjects, and an existing provider of the account', () => {
  const adopted = accountResources(settingsOf({ repository: 'owner@12/name@34', 'adopt-provider': 'true' }));
  expect(adopted.GithubProvider).toBeUndefined();
  const [trust] = roleOf('Deploy', adopted).AssumeRolePolicyDocument.Statement;
  expect(textOf(trust.Principal.Federated)).toMatch(new RegExp(`:oidc-provider/${issuer}$`));
  expect(trust.Condition.StringEquals).toMatchObject({
    [`${issuer}:sub`]: [`repo:owner@12/name@34:environment:${name}`],
    [`${issuer}:job_workflow_ref`]: ['owner/name/.github/workflows/deploy.yml@refs/heads/main'],
  });
});

it.each([
  ['Deploy', ['sts:AssumeRole', 'cloudformation:DescribeStacks']],
  ['Drift', ['sts:AssumeRole']],
  ['Read', ['outputs', 'plan', 'preflight', 'origin-status'].flatMap(permissionsOf)],
  ['Operate', ['outputs', 'origin-status', 'move-origin', 'smoke', 'webhook test'].flatMap(permissionsOf)],
])('the role %s has exactly the actions that its commands need', (kind, actions) => {
  const statements: Json[] = roleOf(kind).Policies.flatMap((each: Json) => each.PolicyDocument.Statement);
  expect(new Set(statements.flatMap(({ Action }) => Action))).toEqual(new Set(actions));
});

const every = environments.map((row) => row.name).join(',');

it.each<[string, Record<string, string>, string]>([
  ['every repository of an owner', { repository: 'owner/*' }, 'repository is "owner/*"'],
  ['another claim beside the repository', { repository: 'owner/name:ref' }, 'repository is "owner/name:ref"'],
  ['every permission set', { operators: '*' }, 'operators is "*"'],
  ['an unknown environment', { environments: `${name},nowhere` }, 'environments names "nowhere"'],
  ['several environments', { environments: every }, '-c wallet:environments-may-replace-each-other=true'],
])('refuses %s', (_, changes, message) => {
  expect(() => settingsOf(changes)).toThrow(message);
});

it('accepts several environments in one account with the acknowledgement', () => {
  const sharing = { environments: every, 'environments-may-replace-each-other': 'true' };
  expect(settingsOf(sharing).environments).toEqual(environments);
});
