import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AssembledStack } from '../../cli/assembly';
import { inProject } from '../../cli/pasted-command';
import { runChecks } from '../../cli/preflight';
import { checks } from '../../cli/preflight-checks';
import { type Environment, restoreSuffix, stacksOf } from '../../lib/environments';
import { first } from '../support/rows';
import { temporaryFolder } from '../support/temporary-folder';
import { runWallet } from '../support/wallet-command';
import {
  type Replies,
  refusal,
  result,
  useAccount,
  withoutStacks,
  withResources,
  withStacks,
} from './account';

const account = useAccount();
const accountId = '111122223333';
const [regionStatus, quota] = ['account:GetRegionOptStatus', 'lambda:GetAccountSettings'];
const [one, reserve] = ['eipalloc-0123456789abcdef0', 'eipalloc-0123456789abcdef1'];
const snapshot = `arn:aws:rds:eu-central-1:${accountId}:cluster-snapshot:before`;

// Independent of the table.
const { standby: _, alarmEmail: __, ...row } = first;
const plain: Environment = {
  ...row,
  region: 'eu-central-1',
  zones: ['eu-central-1a', 'eu-central-1b', 'eu-central-1c'],
  throttle: { requestsPerSecond: 200, burst: 400 },
};
const fromSnapshot = { ...plain, database: { ...plain.database, restoreFrom: { snapshot } } };
const restoreFrom = { cluster: 'wallet-source-0123abcd', time: '2026-11-21T10:30:00Z' };
const toTime = { ...plain, database: { ...plain.database, restoreFrom } };
const adopting: Environment = {
  ...plain,
  adoptedElasticIp: { allocationId: one, address: '203.0.113.7' },
  webhookOrigin: { reserve: true, adoptedReserve: { allocationId: reserve, address: '203.0.113.8' } },
};

const cluster = { Engine: 'aurora-postgresql', EngineVersion: '17.9', EnableHttpEndpoint: true };
const template = {
  Resources: {
    Stage: { Type: 'AWS::ApiGateway::Stage' },
    Cluster: { Type: 'AWS::RDS::DBCluster', Properties: cluster },
  },
};
const stackIn = (region: string, name = plain.stackId): AssembledStack => ({
  ...{ name, region, account: accountId, bucket: '', tags: {}, template },
  bootstrap: { version: 6, parameter: '/cdk-bootstrap/hnb659fds/version' },
});

const zonesAre = (states: Readonly<Record<string, string>>): Replies => ({
  'ec2:DescribeAvailabilityZones': ({ region }) =>
    result({
      availabilityZoneInfo: Object.entries(states).map(([letter, zoneState]) => ({
        zoneName: `${region}${letter}`,
        zoneState,
      })),
    }),
});
const offering = (letter: string, SupportsHttpEndpoint?: boolean): Replies => ({
  'rds:DescribeOrderableDBInstanceOptions': ({ region }) => {
    const AvailabilityZones = { AvailabilityZone: { Name: `${region}${letter}` } };
    const OrderableDBInstanceOption = { AvailabilityZones, SupportsHttpEndpoint };
    return result({ OrderableDBInstanceOptions: { OrderableDBInstanceOption } });
  },
});
const answering = (action: string, value: object): Replies => ({ [action]: () => result(value) });
const refusing = (action: string, code: string): Replies => ({ [action]: () => refusal(code) });

/** An account in which everything is ready for a first deployment. */
const ready: Replies = {
  ...withoutStacks,
  ...zonesAre({ a: 'available', b: 'available', c: 'available' }),
  ...offering('a', true),
  ...answering('sts:GetCallerIdentity', { Account: accountId }),
  ...answering('iam:GetRole', { Role: { Arn: 'arn:aws:iam::1:role/AWSServiceRoleForRDS' } }),
  ...answering(regionStatus, { RegionOptStatus: 'ENABLED_BY_DEFAULT' }),
  ...answering('ssm:GetParameter', { Parameter: { Value: '30' } }),
  ...answering(quota, {
    AccountLimit: { ConcurrentExecutions: 1000, UnreservedConcurrentExecutions: 1000 },
  }),
};
const inStatus = (StackStatus: string): Replies => ({
  ...withStacks(undefined, { StackStatus }),
  ...withResources(),
});
const clusterOf = (EngineVersion: string, from?: string, to?: string) =>
  answering('rds:DescribeDBClusters', {
    DBClusters: {
      DBCluster: { EngineVersion, EarliestRestorableTime: from, LatestRestorableTime: to },
    },
  });
const running = (version: string, suffix = ''): Replies => ({
  ...withStacks(),
  ...withResources(['AWS::RDS::DBCluster', `wallet-plain-1${suffix}`]),
  ...clusterOf(version),
});
const snapshotOf = (Status: string, EngineVersion: string) =>
  answering('rds:DescribeDBClusterSnapshots', {
    DBClusterSnapshots: { DBClusterSnapshot: { Status, EngineVersion } },
  });
/** Both adopted addresses, unused except for these changes. */
const addresses = (changes: object = {}, reserveChanges: object = {}) =>
  answering('ec2:DescribeAddresses', {
    addressesSet: [
      { allocationId: one, publicIp: '203.0.113.7', ...changes },
      { allocationId: reserve, publicIp: '203.0.113.8', ...reserveChanges },
    ],
  });
const associated = { associationId: 'eipassoc-1', networkInterfaceId: 'eni-1' };
const onOwnGateway: Replies = {
  ...withStacks(),
  ...withResources(['AWS::EC2::NatGateway', 'nat-1']),
  ...addresses(associated),
  ...answering('ec2:DescribeNatGateways', {
    natGatewaySet: [{ natGatewayAddressSet: [{ allocationId: one }] }],
  }),
};

const [midnight, next] = ['2026-11-21T00:00:00Z', '2026-11-22T00:00:00Z'];

async function problems(environment: Environment, replies: Replies) {
  account().answer(replies, ready);
  const found = await runChecks(environment, [stackIn('eu-central-1')], accountId);
  return found
    .filter(({ outcome }) => outcome !== 'ok')
    .map(({ outcome, id, found, remedy }) => `${outcome} ${id}: ${found}. ${remedy}`);
}

it.each<[string, Environment, Replies]>([
  ['a first deployment', plain, {}],
  ['an update', plain, running('17.9')],
  ['an RDS version that does not state the Data API', plain, offering('b')],
  ['adopted addresses that are free', adopting, addresses()],
  ['an adopted address on its own gateway', adopting, onOwnGateway],
  ['a snapshot', fromSnapshot, snapshotOf('available', '17.9')],
  ['a time within the backups', toTime, clusterOf('17.9', midnight, next)],
  [
    'a deleted snapshot after the restore',
    fromSnapshot,
    running('17.9', restoreSuffix(fromSnapshot.database)),
  ],
])('all is ok for %s', async (_, environment, replies) => {
  expect(await problems(environment, replies)).toEqual([]);
});

const engine = 'rds:DescribeOrderableDBInstanceOptions';
const bootstrapCommand = inProject(`npx cdk bootstrap aws://${accountId}/eu-central-1`);
const three = { a: 'available', b: 'available', c: 'available' };
const newAccount = { ConcurrentExecutions: 10, UnreservedConcurrentExecutions: 10 };
const noSnapshot = refusing('rds:DescribeDBClusterSnapshots', 'DBClusterSnapshotNotFoundFault');
const noCluster = refusing('rds:DescribeDBClusters', 'DBClusterNotFoundFault');
const [early, late] = ['2026-11-21T10:29:59Z', '2026-11-21T10:30:01Z'];
it.each<[expected: string, text: string, Environment, Replies]>([
  ['failed region', 'is DISABLED', plain, answering(regionStatus, { RegionOptStatus: 'DISABLED' })],
  ['failed rds-service-linked-role', 'create-service', plain, refusing('iam:GetRole', 'NoSuchEntity')],
  ['failed bootstrap', bootstrapCommand, plain, refusing('ssm:GetParameter', 'ParameterNotFound')],
  ['failed bootstrap', 'required: 6', plain, answering('ssm:GetParameter', { Parameter: { Value: '5' } })],
  ['not checked bootstrap', 'a role that has', plain, refusing('ssm:GetParameter', 'AccessDenied')],
  ['failed stack-state', 'Wait until CloudFormation', plain, inStatus('UPDATE_IN_PROGRESS')],
  ['failed stack-state', 'rollback-stack --stack-name WalletEu', plain, inStatus('UPDATE_FAILED')],
  ['failed stack-state', '"Recovering from a failed first', plain, inStatus('ROLLBACK_COMPLETE')],
  ['warning zones', 'c is missing', plain, zonesAre({ a: 'available', b: 'available' })],
  ['warning zones', 'd is impaired', plain, zonesAre({ ...three, d: 'impaired' })],
  [
    'failed lambda-concurrency',
    '--desired-value 400 --',
    plain,
    answering(quota, { AccountLimit: newAccount }),
  ],
  ['failed database-engine', 'not available in eu-central-1a', plain, offering('d', true)],
  ['failed database-engine', 'with the Data API is not available', plain, offering('a', false)],
  ['failed database-engine', 'not available in', plain, refusing(engine, 'InvalidParameterValue')],
  ['failed database-running', 'to 17.10', plain, running('17.10')],
  ['failed restore', 'is not in eu', fromSnapshot, noSnapshot],
  ['failed restore', 'is creating', fromSnapshot, { ...running('17.9'), ...snapshotOf('creating', '17.9') }],
  ['failed restore', 'its version is 17.8', fromSnapshot, snapshotOf('available', '17.8')],
  ['failed restore', 'never', toTime, noCluster],
  ['failed restore', '10:29:59.000Z, the row has', toTime, clusterOf('17.9', midnight, early)],
  ['failed restore', 'from 2026-11-21T10:30:01', toTime, clusterOf('17.9', late, next)],
  ['failed adopted-address', 'is not in eu', adopting, answering('ec2:DescribeAddresses', {})],
  ['failed adopted-address', '203.0.113.9, but', adopting, addresses({}, { publicIp: '203.0.113.9' })],
  ['failed adopted-address', 'is on eni-1, not on the stack', adopting, addresses(associated)],
])('one check alone is not ok: %s, %s', async (expected, text, environment, replies) => {
  const [problem, ...others] = await problems(environment, replies);
  expect({ expected: problem?.split(':')[0], others }).toEqual({ expected, others: [] });
  expect(problem).toContain(text);
});

it('only reads, each stack in its own region', async () => {
  account().answer(ready);
  const regions = ['eu-central-1', 'eu-west-1'];
  const stacks = regions.map((region) => stackIn(region));
  await runChecks(plain, stacks, accountId);
  const { calls } = account();
  expect(calls.filter(({ action }) => !/^(Get|List|Describe)[A-Z]/.test(action))).toEqual([]);
  const regional = calls.filter(({ service }) => ['ec2', 'ssm', 'rds'].includes(service));
  expect(new Set(regional.map(({ region }) => region))).toEqual(new Set(regions));
});

describe('as a command', () => {
  const folder = temporaryFolder();
  const stacks = stacksOf(first);
  const preflight = (...args: string[]) => runWallet(['preflight', '--assembly', folder(), ...args]);
  beforeEach(() => {
    const properties = { templateFile: 'template.json', requiresBootstrapStackVersion: 6 };
    const artifacts = stacks.map(({ stackId, region }) => [
      stackId,
      { environment: `aws://${accountId}/${region}`, properties },
    ]);
    const manifest = { artifacts: Object.fromEntries(artifacts) };
    writeFileSync(join(folder(), 'template.json'), JSON.stringify(template));
    writeFileSync(join(folder(), 'manifest.json'), JSON.stringify(manifest));
  });

  it('prints an object, or a line for each check of each stack', async () => {
    account().answer(ready);
    const { checks: found, ...facts } = JSON.parse((await preflight('--json')).stdout);
    expect(facts).toEqual({ environment: first.name, account: accountId, passed: true });
    expect(found[0]).toEqual({
      ...{ id: 'region', stack: first.stackId, region: first.region },
      ...{ outcome: 'ok', found: `${first.region} is ENABLED_BY_DEFAULT`, remedy: null },
    });
    account().answer(refusing('iam:GetRole', 'NoSuchEntity'), ready);
    const { exitCode, stdout, stderr } = await preflight();
    expect(exitCode).toBe(1);
    expect(stderr).toContain(` ok, 0 warnings, ${stacks.length} failed, 0 not checked.\n`);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1 + stacks.length * checks.length);
  });

  it.each([
    ['belong to account 999999999999, but', result({ Account: '999999999999' })],
    ['is expired.\nSign in to the account', refusal('ExpiredToken', 'The token is expired')],
  ])('stops at "%s"', async (said, identity) => {
    account().answer({ 'sts:GetCallerIdentity': () => identity });
    const { exitCode, stdout, stderr } = await preflight();
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain(said);
    expect(account().calls).toHaveLength(1);
  });
});
