import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AssembledStack, readAssembledStack } from '../../cli/assembly';
import { inProject } from '../../cli/pasted-command';
import { runPreflight } from '../../cli/preflight';
import { accountChecks, stackChecks } from '../../cli/preflight-checks';
import { createApp } from '../../lib/app';
import { type Environment, restoreSuffix } from '../../lib/environment';
import { first } from '../support/rows';
import { runWallet } from '../support/wallet-command';
import { localAccount, type Replies, refusal, result } from './local-account';
import { accountId, deployed, orderable, ready, zonesInState } from './ready-account';

const allocationId = 'eipalloc-0123456789abcdef0';
const reserveId = 'eipalloc-0123456789abcdef1';
const snapshot = `arn:aws:rds:eu-central-1:${accountId}:cluster-snapshot:before`;
const source = 'wallet-source-0123abcd';
const time = '2026-11-21T10:30:00Z';

// Independent of the table.
const { standby: _, alarmEmail: __, ...row } = first;
const plain: Environment = {
  ...row,
  name: 'plain',
  stackId: 'WalletPlain',
  region: 'eu-central-1',
  residencyRegions: ['eu-central-1', 'eu-west-1'],
  zones: ['eu-central-1a', 'eu-central-1b', 'eu-central-1c'],
  databaseAccess: 'data-api',
  throttle: { requestsPerSecond: 200, burst: 400 },
};
const restoring: Environment = {
  ...plain,
  stackId: 'WalletRestoring',
  database: { ...plain.database, restoreFrom: { snapshot } },
};
const adopting: Environment = {
  ...plain,
  adoptedElasticIp: { allocationId, address: '203.0.113.7' },
  webhookOrigin: { reserve: true, adoptedReserve: { allocationId: reserveId, address: '203.0.113.8' } },
};
const standby = {
  stackId: 'WalletPlainStandby',
  region: 'eu-west-1',
  zones: ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'],
  vpcCidr: '10.250.0.0/16',
  globalClusterIdentifier: 'wallet-plain',
};
const withStandby: Environment = { ...plain, standby };

const account = localAccount();
const assembly = mkdtempSync(join(tmpdir(), 'wallet-test-'));
const stacks: Record<string, AssembledStack> = {};
beforeAll(() => {
  const environments = [plain, { ...restoring, name: 'restoring' }, first];
  createApp({ outdir: assembly, environments, validateTemplates: false }).synth();
  for (const { stackId } of environments)
    stacks[stackId] = { ...readAssembledStack(assembly, stackId), account: accountId };
}, 120_000);
afterAll(() => rmSync(assembly, { recursive: true }));

/** The template of a restore to a point in time. */
function atTime({ template, ...stack }: AssembledStack): AssembledStack {
  const resources = Object.entries(template.Resources).map(([id, { Type, Properties }]) => {
    const { SnapshotIdentifier, ...others } = Properties ?? {};
    const restore = SnapshotIdentifier && { SourceDBClusterIdentifier: source, RestoreToTime: time };
    return [id, { Type, Properties: { ...others, ...restore } }];
  });
  return { ...stack, template: { Resources: Object.fromEntries(resources) } };
}

/** The failed checks of an account that is ready except for these replies. */
async function problems(
  environment: Environment,
  replies: Replies,
  { caller = accountId, toTime = false } = {},
) {
  account().answer(replies, ready);
  const stack = stacks[environment.stackId] as AssembledStack;
  const { standby } = environment;
  const replica = standby && { ...stack, name: standby.stackId, region: standby.region };
  const all = [toTime ? atTime(stack) : stack, ...(replica ? [replica] : [])];
  const checks = await runPreflight(environment, all, { account: caller, arn: 'arn:x' });
  return checks
    .filter(({ outcome }) => outcome !== 'ok')
    .map(({ outcome, stack, id, found, remedy }) => [outcome, stack, id, `${found}. ${remedy}`]);
}

const answering = (action: string, value: object): Replies => ({ [action]: () => result(value) });
const refusing = (action: string, code: string): Replies => ({ [action]: () => refusal(code) });
const clusterOf = (EngineVersion: string, window: object = {}) =>
  answering('rds:DescribeDBClusters', { DBClusters: { DBCluster: { EngineVersion, ...window } } });
const window = (EarliestRestorableTime: string, LatestRestorableTime: string) => ({
  EarliestRestorableTime,
  LatestRestorableTime,
});
const day = window('2026-11-21T00:00:00Z', '2026-11-22T00:00:00Z');
const soon = window('2026-11-21T00:00:00Z', '2026-11-21T10:29:59Z');
const late = window('2026-11-21T10:30:01Z', '2026-11-22T00:00:00Z');
const snapshotOf = (Status: string, EngineVersion: string) =>
  answering('rds:DescribeDBClusterSnapshots', {
    DBClusterSnapshots: { DBClusterSnapshot: { Status, EngineVersion } },
  });
/** Both adopted addresses, unused except for these changes. */
const addresses = (changes: object, reserveChanges = {}): Replies => ({
  'ec2:DescribeAddresses': ({ input }) => {
    const isReserve = JSON.stringify(input).includes(reserveId);
    const one = { allocationId, publicIp: '203.0.113.7', ...changes };
    const reserve = { allocationId: reserveId, publicIp: '203.0.113.8', ...reserveChanges };
    return result({ addressesSet: [isReserve ? reserve : one] });
  },
});
const zonesAre = (states: Readonly<Record<string, string>>): Replies => ({
  'ec2:DescribeAvailabilityZones': () => zonesInState('eu-central-1', states),
});
const offering = (...[zone, support]: Parameters<typeof orderable>): Replies => ({
  'rds:DescribeOrderableDBInstanceOptions': () => orderable(zone, support),
});
const held = { associationId: 'eipassoc-1', networkInterfaceId: 'eni-1' };
const gateway = ['AWS::EC2::NatGateway', 'nat-0123456789abcdef0'] as const;
const cluster = (suffix = '') => ['AWS::RDS::DBCluster', `wallet-plain-1${suffix}`] as const;
const isDeployed = { ...deployed('UPDATE_COMPLETE', [cluster()]), ...clusterOf('17.9') };

it.each<[string, Environment, Replies, toTime?: boolean]>([
  ['a first deployment', plain, {}],
  ['a standby', withStandby, {}],
  ['an update', plain, isDeployed],
  ['RDS that does not mention the Data API', plain, offering('eu-central-1a')],
  ['adopted addresses that are free', adopting, addresses({})],
  [
    'an adopted address on the own gateway',
    adopting,
    {
      ...deployed('UPDATE_COMPLETE', [gateway]),
      ...addresses(held),
      ...answering('ec2:DescribeNatGateways', {
        natGatewaySet: [{ natGatewayAddressSet: [{ allocationId }] }],
      }),
    },
  ],
  ['a snapshot', restoring, snapshotOf('available', '17.9')],
  ['a time within the backups', restoring, clusterOf('17.9', day), true],
  [
    'a snapshot that is gone, once restored',
    restoring,
    { ...deployed('UPDATE_COMPLETE', [cluster(restoreSuffix(restoring.database))]), ...clusterOf('17.9') },
  ],
])('all is ok for %s', async (_, environment, replies, toTime = false) => {
  expect(await problems(environment, replies, { toTime })).toEqual([]);
});

const regionStatus = 'account:GetRegionOptStatus';
const concurrency = 'lambda:GetAccountSettings';
const newAccount = { AccountLimit: { ConcurrentExecutions: 10, UnreservedConcurrentExecutions: 10 } };
const lost = zonesAre({ a: 'available', b: 'available' });
const hit = zonesAre({ a: 'available', b: 'impaired', c: 'unavailable' });

it.each<[expected: string, text: string, Environment, Replies, toTime?: boolean]>([
  [
    'failed region',
    'aws account enable-region',
    plain,
    answering(regionStatus, { RegionOptStatus: 'DISABLED' }),
  ],
  ['failed region', 'ENABLING. Wait', plain, answering(regionStatus, { RegionOptStatus: 'ENABLING' })],
  [
    'failed bootstrap',
    inProject(`npx cdk bootstrap aws://${accountId}/eu-central-1`),
    plain,
    refusing('ssm:GetParameter', 'ParameterNotFound'),
  ],
  ['failed bootstrap', 'required: 6', plain, answering('ssm:GetParameter', { Parameter: { Value: '5' } })],
  ['failed stack-state', 'Wait until CloudFormation', plain, deployed('UPDATE_IN_PROGRESS')],
  ['failed stack-state', 'continue-update-rollback', plain, deployed('UPDATE_ROLLBACK_FAILED')],
  ['failed stack-state', 'rollback-stack --stack-name WalletPlain', plain, deployed('UPDATE_FAILED')],
  ['failed stack-state', '"Recovering from a failed first', plain, deployed('ROLLBACK_COMPLETE')],
  ['failed stack-state', '"Deleting a stack with an SLA"', plain, deployed('DELETE_FAILED')],
  ['failed stack-state', 'was never executed', plain, deployed('REVIEW_IN_PROGRESS')],
  ['failed zones', 'c is missing; available: eu-central-1a, eu-central-1b', plain, lost],
  ['warning zones', 'unless this deployment is the fix', plain, { ...isDeployed, ...lost }],
  ['warning zones', 'b is impaired, eu-central-1c is unavailable; available: eu-central-1a', plain, hit],
  ['failed lambda-concurrency', '--desired-value 400 --region', plain, answering(concurrency, newAccount)],
  ['failed database-engine', 'not available in eu-central-1a', plain, offering('eu-central-1d', true)],
  [
    'failed database-engine',
    'not available in',
    plain,
    refusing('rds:DescribeOrderableDBInstanceOptions', 'InvalidParameterValue'),
  ],
  [
    'failed database-engine',
    'not support the RDS Data API in eu-central-1',
    plain,
    offering('eu-central-1a', false),
  ],
  ['failed database-running', 'to 17.10', plain, { ...isDeployed, ...clusterOf('17.10') }],
  [
    'failed restore',
    `${snapshot} is not in`,
    restoring,
    refusing('rds:DescribeDBClusterSnapshots', 'DBClusterSnapshotNotFoundFault'),
  ],
  ['failed restore', `${snapshot} is creating. Wait`, restoring, snapshotOf('creating', '17.9')],
  ['failed restore', 'its version is 17.8', restoring, snapshotOf('available', '17.8')],
  [
    'failed restore',
    `no backups of cluster ${source}`,
    restoring,
    refusing('rds:DescribeDBClusters', 'DBClusterNotFoundFault'),
    true,
  ],
  [
    'failed restore',
    `to 2026-11-21T10:29:59.000Z, but the row has`,
    restoring,
    clusterOf('17.9', soon),
    true,
  ],
  ['failed restore', 'from 2026-11-21T10:30:01.000Z to', restoring, clusterOf('17.9', late), true],
  ['failed restore', '17.10; the template has 17.9', restoring, clusterOf('17.10', day), true],
  ['failed adopted-address', 'Find the address', adopting, answering('ec2:DescribeAddresses', {})],
  ['failed adopted-address', 'Correct adoptedElasticIp', adopting, addresses({ publicIp: '203.0.113.9' })],
  ['failed adopted-address', 'adoptedReserve', adopting, addresses({}, { publicIp: '203.0.113.9' })],
  ['failed adopted-address', 'is on eni-1, not on the stack', adopting, addresses(held)],
  [
    'not asked bootstrap',
    'Sign in with a role that has',
    plain,
    refusing('ssm:GetParameter', 'AccessDenied'),
  ],
])('one check alone is not ok: %s, %s', async (expected, text, environment, replies, toTime = false) => {
  const found = await problems(environment, { ...addresses({}), ...replies }, { toTime });
  const [[outcome, stack, id, line] = [], ...others] = found.filter(
    ([, , , line]) => !line?.includes('skipped'),
  );
  expect({ found: `${outcome} ${id}`, stack, others }).toEqual({
    found: expected,
    stack: environment.stackId,
    others: [],
  });
  expect(line).toContain(text);
});

it('reports a missing service-linked role once', async () => {
  expect(await problems(withStandby, refusing('iam:GetRole', 'NoSuchEntity'))).toEqual([
    [
      'failed',
      null,
      'rds-service-linked-role',
      expect.stringContaining('aws iam create-service-linked-role'),
    ],
  ]);
});

it('only reads, each stack in its own region', async () => {
  await problems(withStandby, {});
  const { calls } = account();
  expect(calls.filter(({ action }) => !/^(Get|List|Describe)[A-Z]/.test(action))).toEqual([]);
  const regional = calls.filter(({ service }) => ['ec2', 'ssm', 'rds'].includes(service));
  expect(new Set(regional.map(({ region }) => region))).toEqual(new Set(['eu-central-1', 'eu-west-1']));
});

it('makes no calls to another account, and no further calls in a region that is not enabled', async () => {
  const [other, ...skipped] = await problems(withStandby, {}, { caller: '999999999999' });
  expect(other?.slice(0, 3)).toEqual(['failed', null, 'account']);
  expect(skipped).toHaveLength(accountChecks.length - 1 + 2 * stackChecks.length);
  expect(account().calls).toEqual([]);

  const off: Replies = {
    [regionStatus]: ({ input }) =>
      result({ RegionOptStatus: input.RegionName === 'eu-west-1' ? 'DISABLED' : 'ENABLED' }),
  };
  const found = await problems(withStandby, off);
  expect(found.map(([, stack]) => stack)).toEqual(stackChecks.map(() => standby.stackId));
  expect(
    account().calls.filter(({ service, region }) => service === 'ec2' && region === 'eu-west-1'),
  ).toEqual([]);
});

it('synthesizes the stacks, and prints an object or a line for each check', async () => {
  account().answer(ready);
  const { stdout } = await runWallet(['preflight', '--json'], { variables: process.env });
  const { checks, ...facts } = JSON.parse(stdout);
  expect(facts).toEqual({ environment: first.name, account: accountId, passed: true });
  expect(checks[0]).toEqual({
    id: 'account',
    title: 'account',
    stack: null,
    region: null,
    outcome: 'ok',
    found: `${accountId} (arn:aws:iam::${accountId}:user/deployer)`,
    remedy: null,
  });

  account().answer(refusing('iam:GetRole', 'NoSuchEntity'), ready);
  const printed = await runWallet(['preflight', '--environment', first.name, '--assembly', assembly]);
  expect(printed).toMatchObject({
    exitCode: 1,
    stdout: expect.stringMatching(/^failed +account +RDS service-linked role .*aws iam create/m),
    stderr: expect.stringMatching(/: \d+ ok, 0 warnings, 1 failed, 0 not asked\.\n$/),
  });
  expect(printed.stdout.trimEnd().split('\n')).toHaveLength(1 + checks.length);
}, 120_000);

it('passes on what the synthesis reports', async () => {
  account().answer(ready);
  const variables = { ...process.env, WALLET_MARS_ACCOUNT: '999999999999' };
  expect(await runWallet(['preflight'], { variables })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('error: WALLET_MARS_ACCOUNT belongs to no environment.'),
  });
}, 60_000);

it('without credentials, prints "sign in" in one line and stops', async () => {
  account().answer({ 'sts:*': () => refusal('ExpiredToken', 'The token is expired') });
  expect(await runWallet(['preflight'])).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: expect.stringMatching(/^error: Sign in to the account of .* The token is expired\.\n$/),
  });
  expect(account().calls.map(({ action }) => action)).toEqual(['GetCallerIdentity']);
});
