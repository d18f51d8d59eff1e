import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { readAssembledStack } from '../../../cli/assembly';
import { inProject } from '../../../cli/pasted-command';
import { accountChecks, stackChecks } from '../../../cli/preflight/checks';
import { askAll } from '../../../cli/preflight/run';
import { createApp } from '../../../lib/app';
import { type Environment, restoreSuffix } from '../../../lib/environment';
import { first } from '../../support/rows';
import { runWallet } from '../../support/wallet-command';
import { localAccount, type Replies, refusal, result } from '../local-account';
import { accountId, deployed, orderable, ready, zonesInState } from './ready-account';

const allocationId = 'eipalloc-0123456789abcdef0';
const reserveId = 'eipalloc-0123456789abcdef1';
const snapshot = `arn:aws:rds:eu-central-1:${accountId}:cluster-snapshot:before`;
const cluster = 'wallet-source-0123abcd';
const time = '2026-11-21T10:30:00Z';

// Rows whatever the table has.
const plain: Environment = {
  ...first,
  name: 'plain',
  stackId: 'WalletPlain',
  region: 'eu-central-1',
  residencyRegions: ['eu-central-1', 'eu-west-1'],
  zones: ['eu-central-1a', 'eu-central-1b', 'eu-central-1c'],
  databaseAccess: 'data-api',
  throttle: { requestsPerSecond: 200, burst: 400 },
};
delete (plain as { standby?: unknown }).standby;
const withStandby: Environment = {
  ...plain,
  stackId: 'WalletServing',
  standby: {
    stackId: 'WalletServingStandby',
    region: 'eu-west-1',
    zones: ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'],
    vpcCidr: '10.250.0.0/16',
    globalClusterIdentifier: 'wallet-serving',
  },
};
const adopting: Environment = {
  ...plain,
  stackId: 'WalletAdopting',
  adoptedElasticIp: { allocationId, address: '203.0.113.7' },
  webhookOrigin: { reserve: true, adoptedReserve: { allocationId: reserveId, address: '203.0.113.8' } },
};
const fromSnapshot: Environment = {
  ...plain,
  stackId: 'WalletFromSnapshot',
  database: { ...plain.database, restoreFrom: { snapshot } },
};
const fromTime: Environment = {
  ...plain,
  stackId: 'WalletFromTime',
  database: { ...plain.database, restoreFrom: { cluster, time } },
};

const account = localAccount();
const assembly = mkdtempSync(join(tmpdir(), 'wallet-test-'));
beforeAll(() => {
  createApp({
    outdir: assembly,
    environments: [plain, withStandby, adopting, fromSnapshot, fromTime].map((row, index) => ({
      ...row,
      name: `row-${index}`,
    })),
    validateTemplates: false,
  }).synth();
}, 180_000);
afterAll(() => rmSync(assembly, { recursive: true }));

/** What is not ok for the row, of an account that is ready but for these replies. */
async function news(row: Environment, replies: Replies, caller = accountId): Promise<readonly string[]> {
  account().answer(replies, ready);
  const names = [row.stackId, row.standby?.stackId].flatMap((name) => name ?? []);
  const stacks = names.map((name) => ({ ...readAssembledStack(assembly, name), account: accountId }));
  const findings = await askAll(row, stacks, { account: caller, arn: 'arn:x' });
  return findings.flatMap(({ check, stack, answer }) =>
    answer.outcome === 'ok'
      ? []
      : `${answer.outcome} | ${stack?.name ?? 'account'} | ${check.id} | ${answer.found}. ${'remedy' in answer ? answer.remedy : ''}`,
  );
}

const answering = (action: string, value: object): Replies => ({ [action]: () => result(value) });
const refusing = (action: string, code: string): Replies => ({ [action]: () => refusal(code) });
const orderableOptions = 'rds:DescribeOrderableDBInstanceOptions';
const clusters = 'rds:DescribeDBClusters';
const health = 'health:DescribeEvents';
const snapshots = 'rds:DescribeDBClusterSnapshots';
const clusterOf = (EngineVersion: string, window: object = {}): Replies => ({
  'rds:DescribeDBClusters': () => result({ DBClusters: { DBCluster: { EngineVersion, ...window } } }),
});
const window = (EarliestRestorableTime: string, LatestRestorableTime: string) => ({
  EarliestRestorableTime,
  LatestRestorableTime,
});
const day = window('2026-11-21T00:00:00Z', '2026-11-22T00:00:00Z');
const snapshotOf = (Status: string, EngineVersion: string): Replies => ({
  'rds:DescribeDBClusterSnapshots': () =>
    result({ DBClusterSnapshots: { DBClusterSnapshot: { Status, EngineVersion } } }),
});
/** Both adopted addresses, free but for these changes. */
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
const orders = (...[zone, support]: Parameters<typeof orderable>): Replies => ({
  'rds:DescribeOrderableDBInstanceOptions': () => orderable(zone, support),
});
const held = { associationId: 'eipassoc-1', networkInterfaceId: 'eni-1' };
const gateway = ['AWS::EC2::NatGateway', 'nat-0123456789abcdef0'] as const;
const databaseCluster = ['AWS::RDS::DBCluster', 'wallet-plain-1'] as const;
const restored = (row: Environment) =>
  ['AWS::RDS::DBCluster', `wallet-plain-1${restoreSuffix(row.database)}`] as const;

it.each<[string, Environment, Replies]>([
  ['a first deployment', plain, {}],
  ['a standby', withStandby, {}],
  ['an update', plain, { ...deployed('UPDATE_COMPLETE', [databaseCluster]), ...clusterOf('17.9') }],
  ['RDS that does not tell of the Data API', plain, orders('eu-central-1a')],
  ['adopted addresses that are free', adopting, addresses({})],
  [
    'an adopted address on the own gateway',
    adopting,
    {
      ...deployed('UPDATE_COMPLETE', [gateway]),
      ...addresses(held),
      'ec2:DescribeNatGateways': () =>
        result({ natGatewaySet: [{ natGatewayAddressSet: [{ allocationId }] }] }),
    },
  ],
  ['a snapshot', fromSnapshot, snapshotOf('available', '17.9')],
  ['a time within the backups', fromTime, clusterOf('17.9', day)],
  [
    'a snapshot that is gone, once restored',
    fromSnapshot,
    { ...deployed('UPDATE_COMPLETE', [restored(fromSnapshot)]), ...clusterOf('17.9') },
  ],
])('all is ok for %s', async (_, row, replies) => {
  expect(await news(row, replies)).toEqual([]);
});

it('asks each stack in its own region, Health in its one, and by calls that read alone', async () => {
  await news(withStandby, {});
  const calls = account().calls;
  expect(calls.filter(({ action }) => !/^(Get|List|Describe)[A-Z]/.test(action))).toEqual([]);
  const regional = calls.filter(({ service }) => ['ec2', 'ssm', 'rds'].includes(service));
  expect(new Set(regional.map(({ region }) => region))).toEqual(new Set(['eu-central-1', 'eu-west-1']));
  expect(
    calls
      .filter(({ service }) => service === 'health')
      .map(({ region, input }) => [region, ...input.filter.regions])
      .sort(),
  ).toEqual([
    ['us-east-1', 'eu-central-1'],
    ['us-east-1', 'eu-west-1'],
  ]);
});

const gone = { 'ec2:DescribeAddresses': () => result({ addressesSet: [] }) };
const newToLambda = { AccountLimit: { ConcurrentExecutions: 10, UnreservedConcurrentExecutions: 10 } };
const issue = { service: 'EC2', eventTypeCode: 'AWS_EC2_OPERATIONAL_ISSUE', startTime: 1_772_000_000 };
const bootstrap = inProject(`npx cdk bootstrap aws://${accountId}/eu-central-1`);
const soon = window('2026-11-21T00:00:00Z', '2026-11-21T10:29:59Z');
const late = window('2026-11-21T10:30:01Z', '2026-11-22T00:00:00Z');
const isDeployed = { ...deployed('UPDATE_COMPLETE', [databaseCluster]), ...clusterOf('17.9') };
const lost = zonesAre({ a: 'available', b: 'available' });
const hit = zonesAre({ a: 'available', b: 'impaired', c: 'unavailable' });
const fourth = zonesAre({ a: 'available', b: 'available', c: 'available', d: 'unavailable' });
const [status, role] = ['account:GetRegionOptStatus', 'ssm:GetParameter'];
const concurrency = 'lambda:GetAccountSettings';

it.each<[told: string, found: string, Environment, Replies]>([
  ['failed region', 'aws account enable-region', plain, answering(status, { RegionOptStatus: 'DISABLED' })],
  ['failed region', 'ENABLING. Wait', plain, answering(status, { RegionOptStatus: 'ENABLING' })],
  ['failed bootstrap', bootstrap, plain, refusing(role, 'ParameterNotFound')],
  ['failed bootstrap', 'at least 6', plain, answering(role, { Parameter: { Value: '5' } })],
  ['failed stack-state', 'Wait until CloudFormation', plain, deployed('UPDATE_IN_PROGRESS')],
  ['failed stack-state', 'continue-update-rollback', plain, deployed('UPDATE_ROLLBACK_FAILED')],
  ['failed stack-state', 'rollback-stack --stack-name WalletPlain', plain, deployed('UPDATE_FAILED')],
  ['failed stack-state', '"Recovering from a failed first', plain, deployed('ROLLBACK_COMPLETE')],
  ['failed stack-state', 'Remove what could not be deleted', plain, deployed('DELETE_FAILED')],
  ['failed stack-state', 'was never executed', plain, deployed('REVIEW_IN_PROGRESS')],
  ['failed zones', 'c is not there; available: eu-central-1a, eu-central-1b', plain, lost],
  ['warning zones', 'unless this deployment is the repair', plain, { ...isDeployed, ...lost }],
  ['warning zones', 'b is impaired, eu-central-1c is unavailable; available: eu-central-1a', plain, hit],
  ['warning zones', 'eu-central-1d is unavailable', plain, fourth],
  ['failed lambda-concurrency', '--desired-value 400 --region', plain, answering(concurrency, newToLambda)],
  ['failed lambda-concurrency', 'Complete the registration', plain, refusing(concurrency, 'OptInRequired')],
  ['failed database-engine', 'offered in none of eu-central-1a', plain, orders('eu-central-1d', true)],
  ['failed database-engine', 'in none of', plain, refusing(orderableOptions, 'InvalidParameterValue')],
  ['failed database-engine', 'no RDS Data API in eu-central-1', plain, orders('eu-central-1a', false)],
  ['failed database-running', 'Put 17.10', plain, { ...isDeployed, ...clusterOf('17.10') }],
  [
    'failed restore',
    `has no ${snapshot}`,
    fromSnapshot,
    refusing(snapshots, 'DBClusterSnapshotNotFoundFault'),
  ],
  ['failed restore', `${snapshot} is creating. Wait`, fromSnapshot, snapshotOf('creating', '17.9')],
  ['failed restore', 'is of version 17.8', fromSnapshot, snapshotOf('available', '17.8')],
  ['failed restore', `no cluster ${cluster}`, fromTime, refusing(clusters, 'DBClusterNotFoundFault')],
  ['failed restore', `to 2026-11-21T10:29:59.000Z, the row has ${time}`, fromTime, clusterOf('17.9', soon)],
  ['failed restore', 'from 2026-11-21T10:30:01.000Z to', fromTime, clusterOf('17.9', late)],
  ['failed restore', 'is of version 17.10; the template has 17.9', fromTime, clusterOf('17.10', day)],
  ['failed adopted-address', 'Look for the address: aws', adopting, gone],
  ['failed adopted-address', 'Correct adoptedElasticIp', adopting, addresses({ publicIp: '203.0.113.9' })],
  ['failed adopted-address', 'adoptedReserve', adopting, addresses({}, { publicIp: '203.0.113.9' })],
  ['failed adopted-address', 'is on eni-1, not on the stack', adopting, addresses(held)],
  ['warning health', 'ISSUE since 2026-02-25T06:13:20.000Z', plain, answering(health, { events: [issue] })],
  ['not asked health', 'Business support', plain, refusing(health, 'SubscriptionRequiredException')],
  ['not asked health', 'Sign in as someone who has', plain, refusing(health, 'AccessDeniedException')],
  ['not asked bootstrap', 'not answered as AWS', plain, { 'ssm:*': () => ({ page: '<html></html>' }) }],
])('one thing alone is not ok: %s, %s', async (told, found, row, replies) => {
  const lines = await news(row, { ...addresses({}), ...replies });
  const [line = '', ...others] = lines.filter((each) => !each.includes('skipped'));
  const [outcome, stack, id, text] = line.split(' | ');
  expect({ told: `${outcome} ${id}`, stack, others }).toEqual({ told, stack: row.stackId, others: [] });
  expect(text).toContain(found);
});

it('tells of a missing service-linked role once', async () => {
  expect(await news(withStandby, { 'iam:GetRole': () => refusal('NoSuchEntity') })).toEqual([
    'failed | account | rds-service-linked-role | the account has no AWSServiceRoleForRDS. Make it: aws iam create-service-linked-role --aws-service-name rds.amazonaws.com',
  ]);
});

it('asks another account nothing, and nothing more in a region that is off', async () => {
  const [other, ...skipped] = await news(withStandby, {}, '999999999999');
  expect(other).toBe(
    `failed | account | account | the credentials (arn:x) are of 999999999999, the account of plain is ${accountId}. Sign in to ${accountId} and name the profile in AWS_PROFILE, or correct the variable WALLET_…_ACCOUNT.`,
  );
  expect(skipped).toHaveLength(accountChecks.length - 1 + 2 * stackChecks.length);
  expect(account().calls).toEqual([]);

  const off: Replies = {
    'account:GetRegionOptStatus': ({ input }) =>
      result({ RegionOptStatus: input.RegionName === 'eu-west-1' ? 'DISABLED' : 'ENABLED' }),
  };
  const told = await news(withStandby, off);
  expect(told).toHaveLength(stackChecks.length);
  expect(told.every((line) => line.includes('| WalletServingStandby |'))).toBe(true);
  expect(
    account().calls.filter(({ region, service }) => service === 'ec2' && region === 'eu-west-1'),
  ).toEqual([]);
});

describe('the command', () => {
  const program = (args: readonly string[], env: Readonly<Record<string, string>>) =>
    promisify(execFile)(process.execPath, ['--require', 'tsx/cjs', 'bin/wallet.ts', 'preflight', ...args], {
      cwd: resolve(__dirname, '../../..'),
      env: { ...process.env, ...env },
    });

  it('synthesizes, asks, and prints an object', async () => {
    account().answer(ready);
    const { stdout } = await program(['--json', '--environment', first.name], {});
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
    expect(checks).toContainEqual(
      expect.objectContaining({ id: 'stack-state', stack: first.stackId, region: first.region }),
    );
  }, 120_000);

  it('exits with 2 for a variable that is no account', async () => {
    account().answer(ready);
    const wrong = program([], { WALLET_MARS_ACCOUNT: '999999999999' });
    await expect(wrong).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('error: WALLET_MARS_ACCOUNT belongs to no environment.'),
    });
  }, 120_000);

  it('says "sign in" in one line without credentials that AWS takes, and stops', async () => {
    account().answer({ 'sts:*': () => refusal('ExpiredToken', 'The token is expired') });
    expect(await runWallet(['preflight'])).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(/^error: Sign in to the account of .* The token is expired\.\n$/),
    });
    expect(account().calls.map(({ action }) => action)).toEqual(['GetCallerIdentity']);
  });

  it('prints a line for each check, and exits with 1 for a failure alone', async () => {
    createApp({ outdir: join(assembly, 'table'), validateTemplates: false }).synth();
    const args = ['preflight', '--environment', first.name, '--assembly', join(assembly, 'table')];
    account().answer({ 'health:*': () => refusal('SubscriptionRequiredException') }, ready);
    const { exitCode, stdout, stderr } = await runWallet(args);
    expect({ exitCode, lines: stdout.trimEnd().split('\n').length }).toEqual({
      exitCode: 0,
      lines: 1 + accountChecks.length + (first.standby ? 2 : 1) * stackChecks.length,
    });
    expect(stdout).toMatch(/^not asked +\w+ +open issues in AWS Health +AWS Health answers/m);
    expect(stderr).toMatch(/: \d+ ok, 0 warnings, 0 failed, \d not asked\.\n$/);

    account().answer({ 'iam:GetRole': () => refusal('NoSuchEntity') }, ready);
    expect(await runWallet(args)).toMatchObject({
      exitCode: 1,
      stdout: expect.stringMatching(/^failed +account +service-linked role of RDS .*aws iam create/m),
    });
  }, 60_000);
});
