import type { Environment } from '../../lib/environment/schema';
import { environments } from '../../lib/environments';
import { GuardrailsStack } from '../../lib/guardrails/app';
import {
  type Denial,
  type PolicyDocument,
  resourceControlPolicy,
  serviceControlPolicy,
} from '../../lib/guardrails/policies';
import { readGuardedAccount } from '../../lib/guardrails/settings';
import { newcomer, withStandby } from '../support/rows';
import { withApp } from '../support/stacks';
import { denialsOf, type Request } from './evaluator';
import {
  account,
  allowedIn,
  guarded,
  organization,
  refusedIn,
  requestIn,
  usesAllowed,
  usesRefused,
} from './requests';

const isDenied = (policy: PolicyDocument, request: Request) => denialsOf(policy, request).length > 0;
const deniedBy = (policy: PolicyDocument, requests: readonly Request[]) =>
  requests.filter((request) => isDenied(policy, request));
const notDeniedBy = (
  policy: PolicyDocument,
  rows: readonly (readonly [wayOut: string, request: Request])[],
) => rows.flatMap(([wayOut, request]) => (isDenied(policy, request) ? [] : [wayOut]));

const rows = environments.map((row): [string, Environment] => [row.name, row]);

it.each(rows)('allows all that deployment, operation and CloudFormation do: %s', (_, row) => {
  const allowed = allowedIn(row);
  expect(allowed.length).toBeGreaterThan(300);
  expect(deniedBy(serviceControlPolicy(guarded(row)), allowed)).toEqual([]);
  expect(deniedBy(resourceControlPolicy(guarded(row)), allowed)).toEqual([]);
});

it.each(rows)('refuses each way out: %s', (_, row) => {
  expect(notDeniedBy(serviceControlPolicy(guarded(row)), refusedIn(row))).toEqual([]);
});

it('protects queues, keys, secrets, buckets and roles from other organizations, not from services of AWS', () => {
  const policy = resourceControlPolicy(guarded(withStandby));
  expect(deniedBy(policy, used)).toEqual([]);
  expect(notDeniedBy(policy, usesRefused)).toEqual([]);
});

/** The policies with one part left out, each with what was left out. */
function* withoutOnePart({ Version, Statement }: PolicyDocument): Generator<[string, PolicyDocument]> {
  for (const [index, statement] of Statement.entries()) {
    const { Sid, Action = [] } = statement;
    yield [Sid, { Version, Statement: Statement.toSpliced(index, 1) }];
    for (const left of Action) {
      const changed: Denial = { ...statement, Action: Action.filter((each) => each !== left) };
      yield [`${Sid} ${left}`, { Version, Statement: Statement.with(index, changed) }];
    }
  }
}

/** The policies with one condition or exempted action left out. */
function* withoutOneException({ Version, Statement }: PolicyDocument): Generator<[string, PolicyDocument]> {
  for (const [index, statement] of Statement.entries()) {
    const { Sid, Condition = {}, NotAction = [] } = statement;
    for (const left of Object.keys(Condition)) {
      const { [left]: _, ...others } = Condition;
      yield [
        `${Sid} ${left}`,
        { Version, Statement: Statement.with(index, { ...statement, Condition: others }) },
      ];
    }
    for (const left of NotAction) {
      const changed: Denial = { ...statement, NotAction: NotAction.filter((each) => each !== left) };
      yield [`${Sid} ${left}`, { Version, Statement: Statement.with(index, changed) }];
    }
  }
}

const row = withStandby;
const inService = serviceControlPolicy(guarded(row));
const inResources = resourceControlPolicy(guarded(row));
const refused = refusedIn(row);
const allowed = allowedIn(row);
const used = usesAllowed.map(([, request]) => request);

it.each([...withoutOnePart(inService)])('without %s a way out is open', (_, policy) => {
  expect(notDeniedBy(policy, refused)).not.toEqual([]);
});

it.each([...withoutOnePart(inResources)])('without %s a resource is open', (_, policy) => {
  expect(notDeniedBy(policy, usesRefused)).not.toEqual([]);
});

it.each([...withoutOneException(inService)])('without %s something needed is refused', (_, policy) => {
  expect(deniedBy(policy, allowed)).not.toEqual([]);
});

it.each([...withoutOneException(inResources)])('without %s somebody is refused', (_, policy) => {
  expect(deniedBy(policy, used)).not.toEqual([]);
});

it('a standby region may be used, and another environment’s may not', () => {
  const create = (region: string) => requestIn(region, 'rds:CreateDBCluster');
  expect(isDenied(inService, create(row.standby.region))).toBe(false);
  expect(isDenied(serviceControlPolicy(guarded(newcomer)), create(row.region))).toBe(true);
});

it.each(rows)('fits into 5,120 characters, half of the quota: %s', (_, row) => {
  // https://docs.aws.amazon.com/organizations/latest/userguide/orgs_reference_limits.html
  for (const policy of [serviceControlPolicy, resourceControlPolicy])
    expect(JSON.stringify(policy(guarded(row))).length).toBeLessThan(5_120);
});

it('a stack attaches both to the account, from a management account that is not bootstrapped', () => {
  const { Resources, Parameters } = withApp((app) => {
    const { stackName } = new GuardrailsStack(app, guarded(newcomer));
    return app.synth().getStackByName(stackName).template;
  });
  expect(Parameters).toBeUndefined();
  const of = (Type: string, Content: PolicyDocument) => ({
    Properties: { Type, TargetIds: [account], Content },
  });
  expect(Object.values(Resources)).toMatchObject([
    of('SERVICE_CONTROL_POLICY', serviceControlPolicy(guarded(newcomer))),
    of('RESOURCE_CONTROL_POLICY', resourceControlPolicy(guarded(newcomer))),
  ]);
});

const two: readonly Environment[] = [withStandby, newcomer];
const variable = `WALLET_${withStandby.name.toUpperCase()}_ACCOUNT`;
const accounts = { [variable]: account, WALLET_NEWCOMER_ACCOUNT: '444455556666' };
const options = { environment: withStandby.name, organization };

it('reads the account of a row', () => {
  const credentials = { CDK_DEFAULT_ACCOUNT: '999999999999' };
  expect(readGuardedAccount(options, { ...accounts, ...credentials }, two)).toEqual(guarded(withStandby));
});

it.each<[string, object, Record<string, string>, RegExp]>([
  ['an unknown environment', { environment: 'nowhere' }, {}, /^environment is "nowhere"\. .*or newcomer$/],
  ['no environment', { environment: undefined }, {}, /^environment is missing\./],
  ['another id', { organization: 'r-abcd' }, {}, /^organization is "r-abcd"\. .*describe-organization/],
  ['a shared account', {}, { WALLET_NEWCOMER_ACCOUNT: account }, /the account of newcomer too\./],
  ['an unknown account', {}, { [variable]: '' }, new RegExp(`^${variable} is missing\\.`)],
  ['another unknown account', {}, { WALLET_NEWCOMER_ACCOUNT: '' }, /^WALLET_NEWCOMER_ACCOUNT is missing\./],
  ['a malformed account', {}, { [variable]: '1' }, /Give the 12 digits/],
  ['the management account', {}, { CDK_DEFAULT_ACCOUNT: account }, /which policies do not bind/],
])('refuses %s', (_, change, variables, message) => {
  expect(() => readGuardedAccount({ ...options, ...change }, { ...accounts, ...variables }, two)).toThrow(
    message,
  );
});
