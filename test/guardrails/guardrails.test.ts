import { isDeepStrictEqual } from 'node:util';
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
import { type Request, statementsFor } from './evaluator';
import { account, allowedIn, guarded, organization, refusedIn, usesAllowed, usesRefused } from './requests';

const isDenied = (policy: PolicyDocument, request: Request) => statementsFor(policy, request).length > 0;
const rows = environments.map((row): [string, Environment] => [row.name, row]);

it.each(rows)(
  'refuse each way out, and nothing that deployment, operation and CloudFormation do: %s',
  (_, row) => {
    const [service, resource] = [serviceControlPolicy, resourceControlPolicy].map((of) => of(guarded(row)));
    const allowed = allowedIn(row);
    expect(allowed.length).toBeGreaterThan(300);
    for (const policy of [service, resource] as PolicyDocument[]) {
      expect(allowed.filter((request) => isDenied(policy, request))).toEqual([]);
      // Half of the quota: https://docs.aws.amazon.com/organizations/latest/userguide/orgs_reference_limits.html
      expect(JSON.stringify(policy).length).toBeLessThan(5_120);
    }
    expect(refusedIn(row).filter((request) => !isDenied(service as PolicyDocument, request))).toEqual([]);
  },
);

it('protect queues, keys, secrets, buckets and roles from other organizations, not from services of AWS', () => {
  const policy = resourceControlPolicy(guarded(withStandby));
  expect(usesAllowed.filter((request) => isDenied(policy, request))).toEqual([]);
  expect(usesRefused.filter((request) => !isDenied(policy, request))).toEqual([]);
});

const row = withStandby;
const without = (list: readonly string[], left: string) => list.filter((each) => each !== left);

it.each([
  ['service', serviceControlPolicy(guarded(row)), refusedIn(row), allowedIn(row)],
  ['resource', resourceControlPolicy(guarded(row)), usesRefused, usesAllowed],
])('the %s control policy has nothing superfluous', (_, policy, refused, allowed) => {
  for (const statement of policy.Statement) {
    const { Sid, Action = [], NotAction = [], Condition = {} } = statement;
    const denies = (changes: Partial<Denial>, request: Request) =>
      isDenied({ ...policy, Statement: [{ ...statement, ...changes }] }, request);
    // What only this statement refuses.
    const own = refused.filter((request) => isDeepStrictEqual(statementsFor(policy, request), [statement]));
    expect([Sid, own]).not.toEqual([Sid, []]);
    // Without such an action, a way out is open; without such an exception, something needed is refused.
    const isOpen = (changes: Partial<Denial>) => own.some((request) => !denies(changes, request));
    const isStopped = (changes: Partial<Denial>) => allowed.some((request) => denies(changes, request));
    const superfluous = [
      ...Action.filter((left) => !isOpen({ Action: without(Action, left) })),
      ...NotAction.filter((left) => !isStopped({ NotAction: without(NotAction, left) })),
      ...Object.keys(Condition).filter((left) => {
        const { [left]: _, ...others } = Condition;
        return !isStopped({ Condition: others });
      }),
    ];
    expect([Sid, superfluous]).toEqual([Sid, []]);
  }
});

it('a stack attaches both to the account, from a management account that is not bootstrapped', () => {
  const { Resources, Parameters } = withApp((app) => {
    const { stackName } = new GuardrailsStack(app, guarded(newcomer));
    return app.synth().getStackByName(stackName).template;
  });
  expect(Parameters).toBeUndefined();
  const [service, resource] = [serviceControlPolicy, resourceControlPolicy].map((of) =>
    of(guarded(newcomer)),
  );
  expect(Object.values<{ Properties: object }>(Resources).map(({ Properties }) => Properties)).toMatchObject([
    { Type: 'SERVICE_CONTROL_POLICY', TargetIds: [account], Content: service },
    { Type: 'RESOURCE_CONTROL_POLICY', TargetIds: [account], Content: resource },
  ]);
});

const two: readonly Environment[] = [withStandby, newcomer];
const variable = `WALLET_${withStandby.name.toUpperCase()}_ACCOUNT`;
const accounts = { [variable]: account, WALLET_NEWCOMER_ACCOUNT: '444455556666' };
const options = { environment: withStandby.name, organization };

it('reads the account of a row', () => {
  expect(readGuardedAccount(options, accounts, two)).toEqual(guarded(withStandby));
});

it.each<[string, object, Record<string, string>, RegExp]>([
  ['an unknown environment', { environment: 'nowhere' }, {}, /^environment is "nowhere"\. .*or newcomer$/],
  ['another id', { organization: 'r-abcd' }, {}, /^organization is "r-abcd"\. .*describe-organization/],
  ['a shared account', {}, { WALLET_NEWCOMER_ACCOUNT: account }, /the account of newcomer too\./],
  ['an unknown account', {}, { [variable]: '' }, new RegExp(`^${variable} is missing\\.`)],
  ['a malformed account', {}, { [variable]: '1' }, /Give the 12 digits/],
  ['the management account', {}, { CDK_DEFAULT_ACCOUNT: account }, /which policies do not bind/],
])('refuses %s', (_, change, variables, message) => {
  expect(() => readGuardedAccount({ ...options, ...change }, { ...accounts, ...variables }, two)).toThrow(
    message,
  );
});
