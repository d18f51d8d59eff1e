import { checks } from '../../../cli/deployments/checks/all';
import { runChecks } from '../../../cli/deployments/preflight';
import { type Environment, restoreSuffix, stacksOf } from '../../../lib/environment/schema';
import { disposable, first, keysIn, withStandby } from '../../support/rows';
import { temporaryFolder } from '../../support/temporary-folder';
import {
  callsNotGranted,
  type Replies,
  refusal,
  result,
  useAccount,
  withoutStacks,
  withResources,
  withStacks,
} from '../account';
import { writeAssembly } from '../assembly';
import { wallet } from '../region';

const account = useAccount();
const accountId = '111122223333';
const [one, reserve] = ['eipalloc-0123456789abcdef0', 'eipalloc-0123456789abcdef1'];

// Independent of the table.
const { standby: _, domainNames: __, ...row } = first;
const plain: Environment = {
  ...row,
  tokenIssuer: 'https://eu.customer.com',
  support: { contact: 'https://customer.com/support', guide: 'https://customer.com/receivers' },
  serviceLevelAgreement: true,
  alarmEmail: 'on-call@customer.com',
  region: 'eu-central-1',
  zones: ['eu-central-1a', 'eu-central-1b', 'eu-central-1c'],
  throttle: { requestsPerSecond: 200, burst: 400 },
};
const snapshot = `arn:aws:rds:eu-central-1:${accountId}:cluster-snapshot:before`;
const fromSnapshot = { ...plain, database: { ...plain.database, restoreFrom: { snapshot } } };
const restoreFrom = { cluster: 'wallet-source-0123abcd', time: '2026-11-21T10:30:00Z' };
const toTime = { ...plain, database: { ...plain.database, restoreFrom } };
const adopting: Environment = {
  ...plain,
  adoptedElasticIp: { allocationId: one, address: '203.0.113.7' },
  webhookOrigin: { reserve: true, adoptedReserve: { allocationId: reserve, address: '203.0.113.8' } },
};

const Properties = { Engine: 'aurora-postgresql', EngineVersion: '17.9', EnableHttpEndpoint: true };
const template = {
  Resources: {
    Stage: { Type: 'AWS::ApiGateway::Stage' },
    Network: { Type: 'AWS::EC2::VPC' },
    Address: { Type: 'AWS::EC2::EIP' },
    Cluster: { Type: 'AWS::RDS::DBCluster', Properties },
    Global: { Type: 'AWS::RDS::GlobalCluster' },
    Plan: { Type: 'AWS::Backup::BackupPlan' },
    One: { Type: 'AWS::RDS::DBInstance', Properties: { AvailabilityZone: 'eu-central-1a' } },
    Two: { Type: 'AWS::RDS::DBInstance', Properties: { AvailabilityZone: 'eu-central-1b' } },
  },
};
const stack = { name: plain.stackId, region: plain.region, template };

const answering = (action: string, value: object): Replies => ({ [action]: () => result(value) });
const refusing = (action: string, code: string): Replies => ({ [action]: () => refusal(code) });
const denied = refusal('UnauthorizedOperation', 'You are not authorized: denied in a service control policy');
/** The zone d is impaired. @param dryRun the response to a dry run. @default - a guardrail denies it */
const zonesAre = (letters: string, dryRun = denied): Replies => ({
  'ec2:DescribeAvailabilityZones': ({ input }) => {
    const stateOf = (letter: string) => (letter === 'd' ? 'impaired' : 'available');
    const zone = (letter: string) => ({ zoneName: `eu-central-1${letter}`, zoneState: stateOf(letter) });
    return input.DryRun ? dryRun : result({ availabilityZoneInfo: [...letters].map(zone) });
  },
});
const offering = (letters: string, supported: object = {}): Replies => ({
  'rds:DescribeOrderableDBInstanceOptions': ({ region }) => {
    const zones = [...letters].map((letter) => ({ Name: `${region}${letter}` }));
    const OrderableDBInstanceOption = { AvailabilityZones: { 'AvailabilityZone[]': zones }, ...supported };
    return result({ OrderableDBInstanceOptions: { OrderableDBInstanceOption } });
  },
});
const concurrency = (UnreservedConcurrentExecutions: number) =>
  answering('lambda:GetAccountSettings', { AccountLimit: { UnreservedConcurrentExecutions } });
const backupOf = (ResourceTypeOptInPreference: object) =>
  answering('backup:DescribeRegionSettings', { ResourceTypeOptInPreference });
const regionIs = (RegionOptStatus: string) => answering('account:GetRegionOptStatus', { RegionOptStatus });

/** An account in which everything is ready for a first deployment, with no more than that needs. */
const ready: Replies = {
  ...{ ...withoutStacks, ...zonesAre('abc'), ...offering('ab'), ...concurrency(500) },
  ...regionIs('ENABLED_BY_DEFAULT'),
  ...backupOf({ Aurora: true }),
  ...answering('sts:GetCallerIdentity', { Account: accountId }),
  ...answering('iam:GetRole', { Role: { Arn: 'arn:aws:iam::1:role/AWSServiceRoleForRDS' } }),
};
const planned = { ...withStacks(), ...withResources(['AWS::Backup::BackupPlan', 'plan-1']) };
const inStatus = (StackStatus: string) => ({ ...withStacks({ StackStatus }), ...withResources() });
const clusterOf = (EngineVersion: string, from?: string, to?: string) => {
  const DBCluster = { EngineVersion, EarliestRestorableTime: from, LatestRestorableTime: to };
  return answering('rds:DescribeDBClusters', { DBClusters: { DBCluster } });
};
const reserving = (ReservedConcurrentExecutions?: number): Replies => ({
  ...withStacks(),
  ...withResources(
    ['AWS::Lambda::Function', 'WalletEu-DeleteUserGroup0-x', 'DeleteUserGroup0123ABCD'],
    ['AWS::RDS::DBCluster', 'wallet-plain-1'],
  ),
  ...clusterOf('17.9'),
  ...answering('lambda:GetFunctionConcurrency', { ReservedConcurrentExecutions }),
});
const running = (version: string, suffix = ''): Replies => ({
  ...withStacks(),
  ...withResources(['AWS::RDS::DBCluster', `wallet-plain-1${suffix}`]),
  ...clusterOf(version),
});
const snapshotOf = (Status: string, EngineVersion: string) => {
  const DBClusterSnapshots = { DBClusterSnapshot: { Status, EngineVersion } };
  return answering('rds:DescribeDBClusterSnapshots', { DBClusterSnapshots });
};
/** Both adopted addresses, the first associated, the second with these changes. */
const addresses = (changes: object = {}) =>
  answering('ec2:DescribeAddresses', {
    addressesSet: [
      { allocationId: one, publicIp: '203.0.113.7', associationId: 'a', networkInterfaceId: 'eni-1' },
      { allocationId: reserve, publicIp: '203.0.113.8', ...changes },
    ],
  });
const natGatewaySet = [{ natGatewayAddressSet: [{ allocationId: one }] }];
const ownGateway: Replies = {
  ...withStacks(),
  ...withResources(['AWS::EC2::NatGateway', 'nat-1'], ['AWS::RDS::DBCluster', 'wallet-plain-1']),
  ...clusterOf('17.9'),
  ...answering('ec2:DescribeNatGateways', { natGatewaySet }),
};
const moved = { ...ownGateway, ...addresses({ publicIp: '203.0.113.9' }) };

const run = (environment: Environment, replies: Replies) => {
  account().answer(replies, ready);
  return runChecks(checks, environment, [stack], accountId);
};

const noSnapshot = refusing('rds:DescribeDBClusterSnapshots', 'DBClusterSnapshotNotFoundFault');
const [midnight, next] = ['2026-11-21T00:00:00Z', '2026-11-22T00:00:00Z'];
const certificateArn = 'arn:aws:acm:eu-central-1:111122223333:certificate/1a2b-3c';
const invented = {
  ...plain,
  domainNames: { api: 'api.example.com', dashboard: 'dashboard.customer.com', certificateArn },
};
const named = {
  ...plain,
  domainNames: { api: 'api.customer.com', dashboard: 'dashboard.customer.com', certificateArn },
};
const certificate = (Status: string, DomainName: string, ...SubjectAlternativeNames: readonly string[]) =>
  answering('acm:DescribeCertificate', { Certificate: { Status, DomainName, SubjectAlternativeNames } });
it.each<[string, Environment, Replies]>([
  ['a first deployment', plain, {}],
  ['an update', plain, running('17.9')],
  ['an update of a function that may run', plain, reserving()],
  ['an update of a function that may run ten times at once', plain, reserving(10)],
  ['a disposable row with placeholders and no alarms', disposable, {}],
  ['an adopted address on its own gateway, and a free one', adopting, { ...ownGateway, ...addresses() }],
  ['a restore to a time', toTime, clusterOf('17.9', midnight, next)],
  ['a certificate for any name below', named, certificate('ISSUED', 'customer.com', '*.customer.com')],
  [
    'a certificate for both names',
    named,
    certificate('ISSUED', 'api.customer.com', 'dashboard.customer.com'),
  ],
  ['a snapshot that is restored', fromSnapshot, running('17.9', restoreSuffix(fromSnapshot.database))],
])('all is ok for %s', async (_, environment, replies) => {
  expect((await run(environment, replies)).filter(({ outcome }) => outcome !== 'ok')).toEqual([]);
});

const { alarmEmail: ___, ...withoutEmail } = plain;
const [early, late] = ['2026-11-21T10:29:59Z', '2026-11-21T10:30:01Z'];
it.each<[expected: string, text: string, Environment, Replies]>([
  ['failed region', 'is DISABLED. Enable it', plain, regionIs('DISABLED')],
  ['failed region', 'is ENABLING. Wait', plain, regionIs('ENABLING')],
  ['failed rds-service-linked-role', 'create-service', plain, refusing('iam:GetRole', 'NoSuchEntity')],
  ['not checked region', 'a role that has', plain, refusing('account:GetRegionOptStatus', 'AccessDenied')],
  ['failed stack-state', 'rollback-stack --stack-name WalletEu', plain, inStatus('UPDATE_FAILED')],
  ['failed stack-state', 'Wait until CloudFormation', plain, inStatus('UPDATE_IN_PROGRESS')],
  ['warning deletions', '--function-name WalletEu-DeleteUserGroup0-x', plain, reserving(0)],
  ['warning zones', 'c is missing, eu-central-1d is impaired', plain, zonesAre('abd')],
  ['warning guardrails', 'docs/guardrails.md', plain, zonesAre('abc', refusal('DryRunOperation'))],
  ['warning guardrails', 'us-east-1', plain, zonesAre('abc', refusal('UnauthorizedOperation'))],
  ['failed lambda-concurrency', '--desired-value 1000 --', plain, concurrency(499)],
  ['failed backup-opt-in', 'update-region-settings --resource', plain, backupOf({ Aurora: false })],
  ['warning backup-opt-in', 'update-region-settings', plain, { ...planned, ...backupOf({ Aurora: false }) }],
  ['warning backup-opt-in', 'does not list Aurora', plain, backupOf({})],
  ['failed placeholders', 'api api.example.com. Give', invented, {}],
  [
    'failed certificate',
    'is missing. Add the CNAME',
    named,
    refusing('acm:DescribeCertificate', 'ResourceNotFoundException'),
  ],
  ['failed certificate', 'is PENDING_VALIDATION', named, certificate('PENDING_VALIDATION', '*.customer.com')],
  [
    'failed certificate',
    'is not for dashboard.customer.com',
    named,
    certificate('ISSUED', 'api.customer.com'),
  ],
  [
    'failed certificate',
    'is not for api.customer.com, dash',
    named,
    certificate('ISSUED', '*.a.customer.com', 'customer.com'),
  ],
  ['failed restore', '203.0.113.7 of an environment that', { ...plain, originAddress: '203.0.113.7' }, {}],
  ['failed restore', '203.0.113.7 of an environment that', { ...plain, formerAddress: '203.0.113.7' }, {}],
  [
    'failed restore',
    'keys of an environment that',
    { ...plain, adoptedKeys: keysIn(plain.region, plain) },
    {},
  ],
  [
    'failed restore',
    'keys of an environment that',
    { ...plain, keyReplicas: keysIn('eu-west-1', plain) },
    {},
  ],
  [
    'failed restore',
    'the database would begin empty',
    { ...withStandby, standby: { ...withStandby.standby, keys: keysIn(plain.region, plain) } },
    {},
  ],
  ['warning restore', 'adopts 203.0.113.7, and the database would begin empty', adopting, addresses()],
  ['failed alarm-email', 'alarms notify nobody', withoutEmail, {}],
  ['failed database-engine', 'not available in eu-central-1b. Choose', plain, offering('ac')],
  ['failed database-engine', ', with the Data', plain, offering('ab', { SupportsHttpEndpoint: false })],
  ['failed database-engine', 'a global database', plain, offering('ab', { SupportsGlobalDatabases: false })],
  ['warning database-engine', 'that runs stays', plain, { ...running('17.9'), ...offering('d') }],
  ['failed database-running', 'to 17.10', plain, running('17.10')],
  ['failed restore', 'is not in eu', fromSnapshot, noSnapshot],
  ['failed restore', 'never', toTime, refusing('rds:DescribeDBClusters', 'DBClusterNotFoundFault')],
  ['failed restore', 'is creating', fromSnapshot, { ...running('17.9'), ...snapshotOf('creating', '17.9') }],
  ['failed restore', 'its version is 17.8', fromSnapshot, snapshotOf('available', '17.8')],
  ['failed restore', '10:29:59.000Z, the row has', toTime, clusterOf('17.9', midnight, early)],
  ['failed restore', 'from 2026-11-21T10:30:01', toTime, clusterOf('17.9', late, next)],
  ['failed adopted-address', 'is not in eu', adopting, answering('ec2:DescribeAddresses', {})],
  ['failed adopted-address', '203.0.113.9, but', adopting, moved],
  [
    'failed adopted-address',
    "is on eni-1, not on the stack's gateway. Disassociate it, and never",
    adopting,
    addresses(),
  ],
])('%s: %s', async (expected, text, environment, replies) => {
  const checked = await run(environment, replies);
  const lines = checked.map(({ outcome, id, found, remedy }) => `${outcome} ${id}: ${found}. ${remedy}`);
  expect(lines.find((line) => line.startsWith(`${expected}: `))).toContain(text);
});

const folder = temporaryFolder();
const { stackId: serving, name, standby } = withStandby;
const preflight = (...args: string[]) =>
  wallet('preflight', '--environment', name, '--assembly', folder(), ...args);
const { One, Two, ...inAnyRegion } = template.Resources;
beforeEach(() => writeAssembly(folder(), { Resources: inAnyRegion }, stacksOf(withStandby), accountId));

const withKeys = { keys: keysIn(withStandby.region, withStandby) };
const adoptingKeys = { adoptedKeys: keysIn(standby.region, withStandby) };
const adoptedElasticIp = { allocationId: one, address: '203.0.113.7' };
/** States of keys, by region; elsewhere there is none. */
const keysAre = (states: Readonly<Record<string, string>>): Replies => ({
  'kms:DescribeKey': ({ region }) =>
    states[region] ? result({ KeyMetadata: { KeyState: states[region] } }) : refusal('NotFoundException'),
});
const primaries = keysAre({ [withStandby.region]: 'Enabled' });
const freeAddress = answering('ec2:DescribeAddresses', {
  addressesSet: [{ allocationId: one, publicIp: '203.0.113.7' }],
});
const ids = Array.from({ length: 3 }, (_, index) => `mrk-${String(index).padStart(32, '0')}`);
const replicated = withResources(...ids.map((id) => ['AWS::KMS::ReplicaKey', id] as const));
it.each<[expected: string, text: string, Partial<typeof standby>, Replies]>([
  ['warning promotion', "every webhook's secret, every token's key, the webhook origin address,", {}, {}],
  ['ok key-replicas', 'mrk-00000000000000000000000000000002: as recorded', withKeys, primaries],
  ['failed key-replicas', 'key/mrk-0.* is missing. Record what', withKeys, keysAre({})],
  [
    'failed key-replicas',
    'is PendingDeletion',
    withKeys,
    keysAre({ [withStandby.region]: 'PendingDeletion' }),
  ],
  [
    'failed key-replicas',
    'already, Enabled: a region holds one',
    withKeys,
    keysAre({ [withStandby.region]: 'Enabled', [standby.region]: 'Enabled' }),
  ],
  // The primary's region is down.
  ['ok key-replicas', 'no replicas to', withKeys, { ...withStacks(), ...replicated }],
  ['ok key-replicas', 'as recorded', adoptingKeys, keysAre({ [standby.region]: 'Enabled' })],
  [
    'failed key-replicas',
    `cancel-key-deletion --region ${standby.region}`,
    adoptingKeys,
    keysAre({ [standby.region]: 'PendingDeletion' }),
  ],
  [
    'failed key-replicas',
    'is PendingDeletion. Use it again',
    adoptingKeys,
    { ...withStacks(), ...replicated, ...keysAre({ [standby.region]: 'PendingDeletion' }) },
  ],
  ['ok adopted-address', 'unassociated', { adoptedElasticIp }, freeAddress],
  ['failed adopted-address', `is not in ${standby.region}`, { adoptedElasticIp }, {}],
])('of a standby, %s: %s', async (expected, text, change, replies) => {
  account().answer(replies, answering('ec2:DescribeAddresses', {}), ready);
  const row = { ...withStandby, standby: { ...standby, ...change } };
  const ofStandby = { ...stack, name: standby.stackId, region: standby.region };
  const checked = await runChecks(checks, row, [ofStandby], accountId);
  const lines = checked.map(({ outcome, id, found, remedy }) => `${outcome} ${id}: ${found}. ${remedy}`);
  expect(lines.find((line) => line.startsWith(`${expected}: `))).toMatch(new RegExp(text));
  expect(callsNotGranted('read', account().calls)).toEqual([]);
});

describe('what a promotion would need, said beforehand', () => {
  const own = '203.0.113.7';
  const complete = {
    ...withStandby,
    originAddress: '203.0.113.5',
    domainNames: { ...named.domainNames, certificateArn },
    standby: {
      ...standby,
      ...withKeys,
      certificateArn: certificateArn.replace('eu-central-1', standby.region),
      adoptedElasticIp,
    },
  } satisfies Environment;
  const published = { WebhookOriginAddress: '203.0.113.5', WebhookOriginStandbyAddress: own };
  /** Both stacks as deployed: the serving one has outputs, the standby replicas of keys. */
  const bothStacks = (outputs: object = published, replicas: readonly string[] = ids): Replies => ({
    ...withStacks({
      Outputs: Object.entries(outputs).map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue })),
    }),
    ...withResources(...replicas.map((id) => ['AWS::KMS::ReplicaKey', id] as const)),
  });
  const ofStandby = { ...stack, name: standby.stackId, region: standby.region };
  const check = async (environment: Environment, replies: Replies) => {
    account().answer(replies, freeAddress, certificate('ISSUED', '*.customer.com'), ready);
    const both = [{ ...stack, region: environment.region, name: environment.stackId }, ofStandby];
    const found = await runChecks(checks, environment, both, accountId);
    expect(callsNotGranted('read', account().calls)).toEqual([]);
    return found.filter(({ stack: name }) => name === standby.stackId);
  };
  const without = (row: typeof complete, field: string) => {
    const { [field as 'originAddress']: _, ...rest } = row;
    return rest;
  };
  const labels = { accessToken: ['2027-11', '2026-11'], userAction: ['2026-11'] };
  const { keys } = complete.standby;
  const rotated = {
    ...complete,
    signingKeyLabels: labels,
    standby: {
      ...complete.standby,
      keys: {
        ...keys,
        accessToken: { ...keys.accessToken, '2027-11': `${keys.webhookSecrets?.slice(0, -1)}9` },
      },
    },
  };

  it('nothing, where everything is recorded, published and deployed', async () => {
    const found = await check(complete, bothStacks());
    expect(found.find(({ id }) => id === 'promotion')).toMatchObject({
      outcome: 'ok',
      found: 'a promotion changes no key and no address',
    });
  });

  it.each<[text: string, Environment, Replies]>([
    ['would change the base addresses$', without(complete, 'domainNames'), bothStacks()],
    ['every key .multiRegionKeys is false.', { ...complete, multiRegionKeys: false }, bothStacks()],
    ['the address of WalletEu is not recorded', without(complete, 'originAddress'), bothStacks()],
    [
      'has 203.0.113.5 as the address of WalletEu, which has 203.0.113.4',
      complete,
      bothStacks({ ...published, WebhookOriginAddress: '203.0.113.4' }),
    ],
    [
      "publishes no address as the standby's, not 203.0.113.7",
      complete,
      bothStacks({ WebhookOriginAddress: '203.0.113.5' }),
    ],
    [
      "publishes 203.0.113.9 as the standby's",
      complete,
      bothStacks({ ...published, WebhookOriginStandbyAddress: '203.0.113.9' }),
    ],
    [
      'no replica of accessToken 2027-11: deploy it; on the day, put 2026-11 first in signingKeyLabels.accessToken',
      rotated,
      bothStacks(),
    ],
    [
      'no replica of userAction 2026-11: deploy it; on the day, no key',
      complete,
      bothStacks(published, ids.slice(0, 2)),
    ],
  ])('%s', async (text, environment, replies) => {
    const promotion = (await check(environment, replies)).find(({ id }) => id === 'promotion');
    expect(promotion).toMatchObject({ outcome: 'warning', found: expect.stringMatching(text) });
  });

  it("in the standby's region: concurrency, backups, certificate, versions and zones", async () => {
    const elsewhere = (replies: Replies, otherwise: Replies): Replies =>
      Object.fromEntries(
        Object.entries(replies).map(([name, reply]) => [
          name,
          (call) => ((call.region === standby.region ? reply : otherwise[name]) ?? reply)(call),
        ]),
      );
    const replies = elsewhere(
      {
        ...concurrency(10),
        ...backupOf({ Aurora: false }),
        ...offering('a'),
        ...certificate('PENDING_VALIDATION', '*.customer.com'),
      },
      { ...ready, ...certificate('ISSUED', '*.customer.com') },
    );
    const failed = (await check(complete, { ...withoutStacks, ...replies })).filter(
      ({ outcome }) => outcome === 'failed',
    );
    expect(failed.map(({ id }) => id).sort()).toEqual([
      'backup-opt-in',
      'certificate',
      'database-engine',
      'lambda-concurrency',
    ]);
  });
});

describe('which stack serves', () => {
  const cluster = 'wallet-eu-1';
  const arn = `arn:aws:rds:${plain.region}:${accountId}:cluster:${cluster}`;
  const globalOf = (GlobalClusterIdentifier: string, IsWriter: boolean) => {
    const GlobalClusterMembers = { GlobalClusterMember: { DBClusterArn: arn, IsWriter } };
    return answering('rds:DescribeGlobalClusters', {
      GlobalClusters: { GlobalClusterMember: { GlobalClusterIdentifier, GlobalClusterMembers } },
    });
  };
  const Resources = {
    ...template.Resources,
    Global: { Type: 'AWS::RDS::GlobalCluster', Properties: { GlobalClusterIdentifier: 'wallet-eu' } },
  };
  const deployed = (of: string, ...resources: readonly [string, string, string?][]): Replies => ({
    'cloudformation:DescribeStacks': (call) =>
      call.input.StackName === of
        ? (withStacks()['cloudformation:DescribeStacks'] as Replies[string])(call)
        : refusal('ValidationError'),
    ...withResources(...resources),
  });
  const serves = deployed(standby.stackId, ['AWS::SQS::Queue', 'https://queue', 'WebhookEventsQueue']);
  const primary = { ...deployed(serving, ['AWS::RDS::DBCluster', cluster]), ...clusterOf('17.9') };
  it.each<[expected: string, string, Replies, Environment?]>([
    ['failed', 'and the row says that it stands by', serves],
    ['failed', 'is a replica in wallet-eu: it would serve', { ...primary, ...globalOf('wallet-eu', false) }],
    [
      'failed',
      'is in the global database wallet-other, the template has wallet-eu',
      { ...primary, ...globalOf('wallet-other', true) },
    ],
    ['ok', 'is the writer of wallet-eu', { ...primary, ...globalOf('wallet-eu', true) }],
    ['ok', 'is in no global database', { ...primary, ...answering('rds:DescribeGlobalClusters', {}) }],
    [
      'ok',
      'a restore replaces',
      { ...primary, ...globalOf('wallet-other', true) },
      { ...withStandby, database: { ...withStandby.database, restoreFrom } },
    ],
  ])('%s: %s, whichever stack is deployed', async (outcome, text, replies, environment = withStandby) => {
    const both = stacksOf(environment).map(({ stackId: name, region }) => ({
      ...stack,
      ...{ name, region, template: name === serving ? { Resources } : template },
    }));
    for (const only of [serving, standby.stackId]) {
      account().answer(replies, ready);
      const found = await runChecks(checks, environment, both, accountId, only);
      expect(callsNotGranted('read', account().calls)).toEqual([]);
      const own = found.filter(({ id }) => id === 'serving');
      expect(own).toContainEqual(expect.objectContaining({ outcome, found: expect.stringContaining(text) }));
    }
  });
});

it('prints an object, or a line for each check of each stack, and fails with a check', async () => {
  account().answer(refusing('iam:GetRole', 'NoSuchEntity'), ready);
  const { checks: found, ...facts } = JSON.parse((await preflight('--json')).stdout);
  expect(facts).toEqual({ environment: name, account: accountId, passed: false });
  const region = { id: 'region', stack: serving, outcome: 'ok', remedy: null };
  expect(found).toContainEqual(expect.objectContaining(region));
  const { exitCode, stdout } = await preflight();
  expect(exitCode).toBe(1);
  expect(stdout.trimEnd().split('\n')).toHaveLength(1 + 2 * checks.length);
});

it('only reads, each stack in its own region, but for a dry run outside', async () => {
  account().answer(ready);
  await preflight();
  const { calls } = account();
  expect(calls.filter(({ action }) => !/^(Get|List|Describe)[A-Z]/.test(action))).toEqual([]);
  const asked = calls.filter(({ service }) => /^(ec2|rds)$/.test(service));
  const places = asked.map(({ region, input }) => `${region}${input.DryRun ? ', dry' : ''}`);
  expect(new Set(places)).toEqual(new Set([withStandby.region, standby.region, 'us-east-1, dry']));
});

describe('--stack', () => {
  const deploy = () => preflight('--stack', standby.stackId);

  it('fails for the stack to deploy only', async () => {
    account().answer(ready);
    const { exitCode, stdout } = await deploy();
    expect(exitCode).toBe(0);
    // The other stack's row has placeholders.
    expect(stdout).toMatch(new RegExp(`^warning +${serving} +placeholders `, 'm'));
    expect(stdout).not.toMatch(/^failed/m);
  });

  it.each<[string, Replies, exitCode: number, said: RegExp]>([
    ['a first deployment', withoutStacks, 1, /2 of \d+ not checked\.\nGrant what was refused/],
    ['an update, which may be a repair', running('17.9'), 0, /\nwarning: 2 of \d+ not checked: /],
  ])('a check that AWS refuses, before %s', async (_, state, exitCode, said) => {
    account().answer(refusing('iam:GetRole', 'AccessDenied'), state, ready);
    expect(await deploy()).toMatchObject({ exitCode, stderr: expect.stringMatching(said) });
  });
});

it('stops with the credentials of another account', async () => {
  account().answer(answering('sts:GetCallerIdentity', { Account: '999999999999' }));
  const stderr = expect.stringContaining('belong to account 999999999999, but');
  expect(await preflight()).toEqual({ exitCode: 1, stdout: '', stderr });
});
