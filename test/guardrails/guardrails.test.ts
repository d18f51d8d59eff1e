import { isDeepStrictEqual } from 'node:util';
import type { Environment } from '../../lib/environment/schema';
import { GuardrailsStack } from '../../lib/guardrails/guardrails-app';
import * as policies from '../../lib/guardrails/policies';
import { readGuardedAccount } from '../../lib/guardrails/settings';
import { matches } from '../../local/aws/iam/policy';
import { permissionsOf, readActions } from '../constructs/documented-permissions';
import { documentedCalls } from '../docs/calls';
import { type Request, statementsFor } from '../support/policy-evaluator';
import { complete, newcomer, shapes, withStandby } from '../support/rows';
import { withApp } from '../support/stacks';
import aws from './aws.json';
import * as made from './requests';

const { account, breakGlass, organization } = made;
const serviceOf = (row: Environment) => policies.serviceControlPolicy(made.guarded(row));
const resourceOf = (row: Environment) => policies.resourceControlPolicy(made.guarded(row));
const isDenied = (policy: policies.PolicyDocument, request: Request) =>
  statementsFor(policy, request).length > 0;

const calls = documentedCalls();
/** Keys with replicas and without; each access; each region of a standby's row. The policies of all others are like these. */
const rows = ['complete', 'promoted', 'with direct access'].map((shape) => {
  const row = shapes[shape] as Environment;
  const templates = made.templatesOf(row);
  return { shape, row, templates: JSON.stringify(templates), allowed: made.allowedIn(row, templates, calls) };
});

it.each(rows)('policies of a row $shape close every door, but none needed', ({ row, templates, allowed }) => {
  expect(allowed.length).toBeGreaterThan(300);
  expect(allowed.filter(({ action }) => action.startsWith('unknown:'))).toEqual([]);
  for (const policy of [serviceOf(row), resourceOf(row)]) {
    expect(allowed.filter((request) => isDenied(policy, request))).toEqual([]);
    // Half of the quota: https://docs.aws.amazon.com/organizations/latest/userguide/orgs_reference_limits.html
    expect(JSON.stringify(policy).length).toBeLessThan(5_120);
  }
  // CloudFormation deletes what a failed creation made.
  const deployed = allowed.filter(({ context }) => /cfn-exec-role/.test(`${context?.['aws:PrincipalArn']}`));
  const losses = made.losses.filter((each) => each !== 'ec2:ReleaseAddress' || templates.includes('::EIP"'));
  expect(deployed.map(({ action }) => action)).toEqual(expect.arrayContaining(losses));
  const ofPeople = ({ context }: Request) => context?.['aws:PrincipalArn'] === breakGlass;
  const ours = [...allowed.filter((each) => !ofPeople(each)).map(({ action }) => action), ...permissionsOf()];
  expect(ours.filter((action) => made.foreignLosses.includes(action))).toEqual([]);
  const open = Object.entries(made.keptClosed(row)).flatMap(([door, tries]) =>
    tries.filter((request) => !isDenied(serviceOf(row), request)).map((request) => [door, request]),
  );
  expect(open).toEqual([]);
});

const uses = 'kms:Decrypt s3:GetObject secretsmanager:GetSecretValue sqs:ReceiveMessage sts:AssumeRole';
const usesBy = (context: object) =>
  readActions(uses).map((action): Request => ({ action, context: { ...context } }));
const members = usesBy({ 'aws:PrincipalOrgID': organization, 'aws:PrincipalIsAWSService': 'false' });
const services = usesBy({ 'aws:PrincipalIsAWSService': 'true' });
const others = usesBy({ 'aws:PrincipalOrgID': 'o-another0000', 'aws:PrincipalIsAWSService': 'false' });
const token = { action: 'sts:AssumeRoleWithWebIdentity' };
const allowedIn = (of: Environment) => rows.find(({ row }) => row === of)?.allowed ?? [];

it.each([
  ['service', serviceOf(complete), Object.values(made.keptClosed(complete)).flat(), allowedIn(complete)],
  ['resource', resourceOf(complete), [...others, ...usesBy({})], [...members, ...services, token]],
])('the %s control policy has nothing superfluous, and what AWS knows', (_, policy, refused, allowed) => {
  expect(refused.filter((request) => !isDenied(policy, request))).toEqual([]);
  expect(allowed.filter((request) => isDenied(policy, request))).toEqual([]);
  for (const statement of policy.Statement) {
    const { Sid, Action = [], NotAction = [], Condition = {} } = statement;
    // What only this statement refuses.
    const own = refused.filter((request) => isDeepStrictEqual(statementsFor(policy, request), [statement]));
    expect([Sid, own]).not.toEqual([Sid, []]);
    const isIn = (requests: readonly Request[], pattern: string) =>
      requests.some(({ action }) => matches(pattern, action));
    const withoutCondition = (left: string) => ({ ...statement, Condition: { ...Condition, [left]: {} } });
    // Without such an action, a door is open; without such an exception, something needed is refused.
    const superfluous = [
      ...Action.filter((pattern) => !isIn(own, pattern)),
      ...NotAction.filter((pattern) => !isIn(allowed, pattern)),
      ...Object.keys(Condition).filter((left) => {
        const stricter = { ...policy, Statement: [withoutCondition(left)] };
        return !allowed.some((request) => isDenied(stricter, request));
      }),
    ];
    expect([Sid, superfluous]).toEqual([Sid, []]);
    // Each action exists, and has the keys and resource types that the statement compares.
    for (const pattern of [...Action, ...NotAction].filter((each) => !each.endsWith(':*'))) {
      const known = Object.entries(aws.actions).filter(([, actions]) =>
        actions.split(' ').some((action) => matches(pattern, action)),
      );
      expect([pattern, known]).not.toEqual([pattern, []]);
      for (const [words] of known)
        expect([pattern, ...words.split(' ')]).toEqual(expect.arrayContaining(made.comparedBy(statement)));
    }
  }
});

const service = { Type: 'SERVICE_CONTROL_POLICY', TargetIds: [account], Content: serviceOf(newcomer) };
const resource = { Type: 'RESOURCE_CONTROL_POLICY', TargetIds: [account], Content: resourceOf(newcomer) };
it.each([
  ['both', false, [service, resource]],
  ['the first until a backup was copied and restored', true, [service]],
])('a stack attaches %s, from a management account that is not bootstrapped', (_, actionsOnly, attached) => {
  const { Resources, Parameters } = withApp((app) => {
    const { stackName } = new GuardrailsStack(app, { ...made.guarded(newcomer), actionsOnly });
    return app.synth().getStackByName(stackName).template;
  });
  expect(Parameters).toBeUndefined();
  const all = Object.values<{ Properties: object }>(Resources).map(({ Properties }) => Properties);
  expect(all).toEqual(attached.map((policy) => expect.objectContaining(policy)));
});

const settings = { environment: withStandby.name, organization, 'break-glass': breakGlass, policies: 'all' };
const variable = `WALLET_${withStandby.name.toUpperCase()}_ACCOUNT`;
const read = (change: object = {}, variables: object = {}) =>
  readGuardedAccount(
    (name) => new Map(Object.entries({ ...settings, ...change })).get(name),
    { [variable]: account, WALLET_NEWCOMER_ACCOUNT: '444455556666', ...variables },
    [withStandby, newcomer],
  );

it('reads the account of a row', () => {
  expect(read()).toEqual({ ...made.guarded(withStandby), actionsOnly: false });
});

it.each<[string, object, object, RegExp]>([
  ['an unknown environment', { environment: 'nowhere' }, {}, /^environment is "nowhere"\. .*or newcomer$/],
  ['another id', { organization: 'r-abcd' }, {}, /^organization is "r-abcd"\. .*describe-organization/],
  ['a pattern of roles', { 'break-glass': `${breakGlass}*` }, {}, /^break-glass is "arn.*without wildcards/],
  ["another account's role", { 'break-glass': 'arn:aws:iam::1:role/a' }, {}, /of one role of account 1111/],
  ['another choice', { policies: 'action' }, {}, /^policies is "action"\. Give .*=actions, or all/],
  ['a shared account', {}, { WALLET_NEWCOMER_ACCOUNT: account }, /the account of newcomer too\./],
  ['an unknown account', {}, { [variable]: '' }, new RegExp(`^${variable} is missing\\.`)],
  ['a malformed account', {}, { [variable]: '1' }, /Give the 12 digits/],
  ['the management account', {}, { CDK_DEFAULT_ACCOUNT: account }, /which policies do not bind/],
])('refuses %s', (_, change, variables, message) => {
  expect(() => read(change, variables)).toThrow(message);
});
