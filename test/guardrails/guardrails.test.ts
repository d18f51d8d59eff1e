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
  const used = usesAllowed.map(([, request]) => request);
  expect(deniedBy(policy, used)).toEqual([]);
  expect(notDeniedBy(policy, usesRefused)).toEqual([]);
});

type Part = readonly [part: string, statement: Denial, without: Denial];

/** Each statement without one of its actions, and without any. */
const actionsIn = ({ Statement }: PolicyDocument): readonly Part[] =>
  Statement.flatMap((statement) => {
    const { Sid, Action = [] } = statement;
    return ['', ...Action].map((left): Part => {
      const others = left === '' ? [] : Action.filter((each) => each !== left);
      return [`${Sid} ${left}`, statement, { ...statement, Action: others }];
    });
  });

/** Each statement without one of its conditions or exempted actions. */
const exceptionsIn = ({ Statement }: PolicyDocument): readonly Part[] =>
  Statement.flatMap((statement) => {
    const { Sid, Condition = {}, NotAction = [] } = statement;
    return [
      ...Object.keys(Condition).map((left): Part => {
        const { [left]: _, ...others } = Condition;
        return [`${Sid} ${left}`, statement, { ...statement, Condition: others }];
      }),
      ...NotAction.map((left): Part => {
        const others = NotAction.filter((each) => each !== left);
        return [`${Sid} ${left}`, statement, { ...statement, NotAction: others }];
      }),
    ];
  });

const row = withStandby;
const inService = serviceControlPolicy(guarded(row));
const inResources = resourceControlPolicy(guarded(row));
const isDeniedBy = (statement: Denial, request: Request) =>
  isDenied({ Version: '2012-10-17', Statement: [statement] }, request);

describe.each([
  ['service', inService, refusedIn(row), allowedIn(row)],
  ['resource', inResources, usesRefused, usesAllowed.map(([, request]) => request)],
])('the %s control policy has nothing superfluous', (_, policy, refused, allowed) => {
  /** What only this statement refuses. */
  const refusedBy = new Map<Denial, Request[]>(policy.Statement.map((statement) => [statement, []]));
  for (const [, request] of refused) {
    const [denial, ...others] = denialsOf(policy, request);
    if (denial && others.length === 0) refusedBy.get(denial)?.push(request);
  }

  it.each(actionsIn(policy))('without %s a way out is open', (_, statement, without) => {
    expect(refusedBy.get(statement)?.some((request) => !isDeniedBy(without, request))).toBe(true);
  });

  it.each(exceptionsIn(policy))('without %s something needed is refused', (_, __, without) => {
    expect(allowed.some((request) => isDeniedBy(without, request))).toBe(true);
  });
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
