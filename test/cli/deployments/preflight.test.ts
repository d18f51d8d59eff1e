import { checks } from '../../../cli/deployments/checks/all';
import { runChecks } from '../../../cli/deployments/preflight';
import { type Environment, restoreSuffix, stacksOf } from '../../../lib/environment/schema';
import { complete, disposable, first, keysIn, withStandby } from '../../support/rows';
import { temporaryFolder } from '../../support/temporary-folder';
import type { Replies } from '../account';
import { notGranted, onlyDeployed, refusal, result, useAccount, withResources, withStacks } from '../account';
import { writeAssembly } from '../assembly';
import { unfinished, wallet } from '../region';

const account = useAccount();
const accountId = '111122223333';
const { adoptedElasticIp, keys } = complete.standby;
const { allocationId: one = '', address = '' } = adoptedElasticIp ?? {};
const reserve = 'eipalloc-0123456789abcdef1';

const { standby: _, ...row } = first;
const withoutEmail: Environment = {
  ...row,
  tokenIssuer: 'https://eu.customer.com',
  support: { contact: 'https://customer.com/support', guide: 'https://customer.com/receivers' },
};
const plain: Environment = { ...withoutEmail, alarmEmail: 'on-call@customer.com' };
const snapshot = `arn:aws:rds:eu-central-1:${accountId}:cluster-snapshot:before`;
const fromSnapshot = { ...plain, database: { ...plain.database, restoreFrom: { snapshot } } };
const restoreFrom = { cluster: 'wallet-source-0123abcd', time: '2026-11-21T10:30:00Z' };
const toTime = { ...plain, database: { ...plain.database, restoreFrom } };
const adopting: Environment = {
  ...plain,
  adoptedElasticIp: { allocationId: one, address },
  webhookOrigin: { reserve: true, adoptedReserve: { allocationId: reserve, address: '203.0.113.8' } },
};
const certificateArn = `arn:aws:acm:eu-central-1:${accountId}:certificate/1a2b-3c`;
const domainNames = { api: 'api.customer.com', dashboard: 'dashboard.customer.com', certificateArn };
const named = { ...plain, domainNames };
const direct: Environment = { ...plain, databaseAccess: 'direct' };

const { stackId: serving, name, region, standby } = withStandby;
const adoptedKeys = keysIn(standby.region, withStandby);
const adoptingKeys = { ...withStandby, standby: { ...standby, adoptedKeys } };
// For `complete`, a promotion changes nothing.
const { domainNames: __, ...withoutNames } = complete;
const { originAddress: ___, ...withoutAddress } = complete;
const later = { '2027-11': `${keys?.webhookSecrets?.slice(0, -1)}9` };
const rotated = {
  ...complete,
  signingKeyLabels: { accessToken: ['2027-11', '2026-11'], userAction: ['2026-11'] },
  standby: { ...complete.standby, keys: { ...keys, accessToken: { ...keys?.accessToken, ...later } } },
} as Environment;

const Properties = { Engine: 'aurora-postgresql', EngineVersion: '17.9' };
const global = { GlobalClusterIdentifier: 'wallet-eu' };
/** As of a standby: without instances. */
const Resources = {
  Cluster: { Type: 'AWS::RDS::DBCluster', Properties },
  Global: { Type: 'AWS::RDS::GlobalCluster', Properties: global },
};
const instanceIn = (AvailabilityZone: string) => ({
  Type: 'AWS::RDS::DBInstance',
  Properties: { AvailabilityZone },
});
const assembled = (environment: Environment) =>
  stacksOf(environment).map(({ stackId, region }) => {
    const instances = { One: instanceIn(`${region}a`), Two: instanceIn(`${region}b`) };
    const template = { Resources: { ...Resources, ...(stackId === environment.stackId && instances) } };
    return { name: stackId, region, template };
  });

const answering = (action: string, value: object): Replies => ({ [action]: () => result(value) });
const refusing = (action: string, code: string): Replies => ({ [action]: () => refusal(code) });
const denied = refusal('UnauthorizedOperation', 'You are not authorized: denied in a service control policy');
/** The zone d is impaired. @param dryRun the response to a dry run. @default - a guardrail denies it */
const zonesAre = (letters: string, dryRun = denied): Replies => ({
  'ec2:DescribeAvailabilityZones': ({ region, input }) => {
    const stateOf = (letter: string) => (letter === 'd' ? 'impaired' : 'available');
    const zone = (letter: string) => ({ zoneName: `${region}${letter}`, zoneState: stateOf(letter) });
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
const withPlan = { ...withStacks(), ...withResources(['AWS::Backup::BackupPlan', 'plan-1']) };
const noBackups = backupOf({ Aurora: false });
const regionIs = (RegionOptStatus: string) => answering('account:GetRegionOptStatus', { RegionOptStatus });
const certificate = (Status: string, DomainName: string, ...SubjectAlternativeNames: readonly string[]) =>
  answering('acm:DescribeCertificate', { Certificate: { Status, DomainName, SubjectAlternativeNames } });
const noCertificate = refusing('acm:DescribeCertificate', 'ResourceNotFoundException');
const addressesAre = (...addressesSet: readonly object[]) =>
  answering('ec2:DescribeAddresses', { addressesSet });
const noSnapshot = refusing('rds:DescribeDBClusterSnapshots', 'DBClusterSnapshotNotFoundFault');
const noCluster = refusing('rds:DescribeDBClusters', 'DBClusterNotFoundFault');

const nothingDeployed = onlyDeployed('none');
/** An account in which everything is ready for a first deployment, with no more than that needs. */
const ready: Replies = {
  ...nothingDeployed,
  ...zonesAre('abc'),
  ...offering('ab'),
  ...concurrency(500),
  ...regionIs('ENABLED_BY_DEFAULT'),
  ...backupOf({ Aurora: true }),
  ...certificate('ISSUED', '*.customer.com'),
  ...addressesAre({ allocationId: one, publicIp: address }),
  ...answering('rds:DescribeGlobalClusters', {}),
  ...answering('sts:GetCallerIdentity', { Account: accountId }),
  ...answering('iam:GetRole', { Role: { Arn: 'arn:aws:iam::1:role/AWSServiceRoleForRDS' } }),
};
const inStatus = (StackStatus: string) => ({ ...withStacks({ StackStatus }), ...withResources() });
const clusterOf = (EngineVersion: string, from?: string, to?: string) => {
  const DBCluster = { EngineVersion, EarliestRestorableTime: from, LatestRestorableTime: to };
  return answering('rds:DescribeDBClusters', { DBClusters: { DBCluster } });
};
/** Every stack is deployed, with these resources. */
const having = (...resources: readonly (readonly [string, string, string?])[]): Replies => ({
  ...withStacks(),
  ...withResources(...resources),
  ...clusterOf('17.9'),
});
const cluster = ['AWS::RDS::DBCluster', 'wallet-plain-1'] as const;
const running = (version: string): Replies => ({ ...having(cluster), ...clusterOf(version) });
const handler = ['WalletEu-DeleteUserGroup0-x', 'DeleteUserGroup0123ABCD'] as const;
const reserving = (ReservedConcurrentExecutions?: number): Replies => ({
  ...having(['AWS::Lambda::Function', ...handler], cluster),
  ...answering('lambda:GetFunctionConcurrency', { ReservedConcurrentExecutions }),
});
const snapshotOf = (Status: string, EngineVersion: string) => {
  const DBClusterSnapshots = { DBClusterSnapshot: { Status, EngineVersion } };
  return answering('rds:DescribeDBClusterSnapshots', { DBClusterSnapshots });
};
/** Both adopted addresses, the first associated, the second this one. */
const addresses = (publicIp = '203.0.113.8') =>
  addressesAre(
    { allocationId: one, publicIp: address, associationId: 'a', networkInterfaceId: 'eni-1' },
    { allocationId: reserve, publicIp },
  );
const own = { allocationId: one };
const ownGateway: Replies = {
  ...having(['AWS::EC2::NatGateway', 'nat-1'], cluster),
  ...answering('ec2:DescribeNatGateways', { natGatewaySet: [{ natGatewayAddressSet: [own] }] }),
};
const [midnight, next] = ['2026-11-21T00:00:00Z', '2026-11-22T00:00:00Z'];
const [early, late] = ['2026-11-21T10:29:59Z', '2026-11-21T10:30:01Z'];
const keysAre = (states: Readonly<Record<string, string>>): Replies => ({
  'kms:DescribeKey': ({ region }) =>
    states[region] ? result({ KeyMetadata: { KeyState: states[region] } }) : refusal('NotFoundException'),
});
const enabledInBoth = { [region]: 'Enabled', [standby.region]: 'Enabled' };
const pendingHere = keysAre({ [standby.region]: 'PendingDeletion' });
const ids = Array.from({ length: 3 }, (_, index) => `mrk-${String(index).padStart(32, '0')}`);
const replicas = (...keys: readonly string[]) =>
  having(...keys.map((id) => ['AWS::KMS::ReplicaKey', id] as const));
const withoutThird = replicas(...ids.slice(0, 2));
/** Both stacks as deployed: the serving one with these outputs, the standby with replicas of keys. */
const publishing = (WebhookOriginAddress: string, WebhookOriginStandbyAddress?: string): Replies => {
  const outputs = Object.entries({ WebhookOriginAddress, WebhookOriginStandbyAddress });
  const Outputs = outputs.map(([OutputKey, OutputValue]) => ({ OutputKey, OutputValue }));
  return { ...replicas(...ids), ...withStacks({ Outputs }) };
};
const published = publishing('203.0.113.7', '203.0.113.9');
const eventsQueue = ['AWS::SQS::Queue', 'https://queue', 'WebhookEventsQueue'] as const;
const standbyServes = { ...having(eventsQueue), ...onlyDeployed(standby.stackId) };
/** The serving stack's cluster is in this global database. */
const inGlobal = (GlobalClusterIdentifier: string, IsWriter: boolean): Replies => {
  const DBClusterArn = `arn:aws:rds:${region}:${accountId}:cluster:wallet-eu-1`;
  const GlobalClusterMembers = { GlobalClusterMember: { DBClusterArn, IsWriter } };
  const GlobalClusters = { GlobalClusterMember: { GlobalClusterIdentifier, GlobalClusterMembers } };
  return {
    ...having(['AWS::RDS::DBCluster', 'wallet-eu-1']),
    ...onlyDeployed(serving),
    ...answering('rds:DescribeGlobalClusters', { GlobalClusters }),
  };
};

async function run(environment: Environment, replies: Replies, which = checks) {
  account().answer(replies, ready);
  const found = await runChecks(which, environment, assembled(environment), accountId);
  expect(notGranted('read', account().calls)).toEqual([]);
  for (const { found: said, remedy } of found) expect(`${said} ${remedy ?? ''}`).not.toMatch(unfinished);
  return found;
}

const restoredCluster = [cluster[0], `${cluster[1]}${restoreSuffix(fromSnapshot.database)}`] as const;
it.each<[string, Environment, Replies]>([
  ['a first deployment', plain, {}],
  ['an update of a function that may run', plain, reserving()],
  ['an update of a function that may run ten times at once', plain, reserving(10)],
  ['a disposable row with placeholders and no alarms', disposable, {}],
  ['an adopted address on its own gateway, and a free one', adopting, { ...ownGateway, ...addresses() }],
  ['a restore to a time', toTime, clusterOf('17.9', midnight, next)],
  ['a certificate for any name below', named, certificate('ISSUED', 'customer.com', '*.customer.com')],
  ['a certificate for both', named, certificate('ISSUED', domainNames.api, domainNames.dashboard)],
  ['a snapshot that is restored', fromSnapshot, having(restoredCluster)],
])('all is ok for %s', async (_, environment, replies) => {
  expect((await run(environment, replies)).filter(({ outcome }) => outcome !== 'ok')).toEqual([]);
});

const restoring = { ...withStandby, database: { ...withStandby.database, restoreFrom } };
const ofOtherNames = certificate('ISSUED', '*.a.customer.com', 'customer.com');
const pending = certificate('PENDING_VALIDATION', '*.customer.com');
it.each<[expected: string, text: string, Environment, Replies?]>([
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
  ['failed backup-opt-in', 'update-region-settings --resource', plain, noBackups],
  ['warning backup-opt-in', 'update-region-settings', plain, { ...withPlan, ...noBackups }],
  ['warning backup-opt-in', 'does not list Aurora', plain, backupOf({})],
  ['failed placeholders', 'api api.eu.example.com, dash.*. Give', complete],
  ['failed alarm-email', 'alarms notify nobody', withoutEmail],
  ['failed certificate', 'is missing. Add the CNAME', named, noCertificate],
  ['failed certificate', 'is PENDING_VALIDATION', named, pending],
  ['failed certificate', 'not for api.*, dash', named, ofOtherNames],
  ['failed restore', '203.0.113.7 of an environment that', { ...plain, originAddress: '203.0.113.7' }],
  ['failed restore', '203.0.113.7 of an environment that', { ...plain, formerAddress: '203.0.113.7' }],
  ['failed restore', 'keys of an en', { ...plain, adoptedKeys: keysIn(plain.region, plain) }],
  ['failed restore', 'keys of an en', { ...plain, keyReplicas: keysIn('eu-west-1', plain) }],
  ['failed restore', 'the database would begin empty', complete],
  ['warning restore', 'adopts 203.0.113.9, and the database would begin empty', adopting, addresses()],
  ['failed restore', 'is not in eu', fromSnapshot, noSnapshot],
  ['failed restore', 'never', toTime, noCluster],
  ['failed restore', 'is creating', fromSnapshot, { ...running('17.9'), ...snapshotOf('creating', '17.9') }],
  ['failed restore', 'its version is 17.8', fromSnapshot, snapshotOf('available', '17.8')],
  ['failed restore', '10:29:59.000Z, the row has', toTime, clusterOf('17.9', midnight, early)],
  ['failed restore', 'from 2026-11-21T10:30:01', toTime, clusterOf('17.9', late, next)],
  ['failed database-engine', 'not available in eu-central-1b. Choose', plain, offering('ac')],
  ['failed database-engine', ', with the Data', plain, offering('ab', { SupportsHttpEndpoint: false })],
  ['failed database-engine', 'a global database', plain, offering('ab', { SupportsGlobalDatabases: false })],
  ['warning database-engine', 'that runs stays', direct, { ...running('17.9'), ...offering('d') }],
  ['failed database-running', 'to 17.10', plain, running('17.10')],
  ['failed adopted-address', 'is not in eu-central-1', adopting, addressesAre()],
  ['failed adopted-address', '203.0.113.4, but', adopting, { ...ownGateway, ...addresses('203.0.113.4') }],
  ['failed adopted-address', "is on eni-1, not on the stack's gateway. Dis", adopting, addresses()],
  ['ok adopted-address', 'unassociated', complete],
  ['failed adopted-address', `is not in ${standby.region}`, complete, addressesAre()],
  ['ok key-replicas', 'mrk-0*2: as recorded', complete, keysAre({ [region]: 'Enabled' })],
  ['failed key-replicas', 'key/mrk-0.* is missing. Record what', complete, keysAre({})],
  ['failed key-replicas', 'is PendingDeletion', complete, keysAre({ [region]: 'PendingDeletion' })],
  ['failed key-replicas', 'already, Enabled: a region holds one', complete, keysAre(enabledInBoth)],
  // The primary's region is down.
  ['ok key-replicas', 'no replicas to', complete, replicas(...ids)],
  ['ok key-replicas', 'as recorded', adoptingKeys, keysAre({ [standby.region]: 'Enabled' })],
  ['failed key-replicas', `cancel-key-deletion --region ${standby.region}`, adoptingKeys, pendingHere],
  ['failed key-replicas', 'Use it again', adoptingKeys, { ...replicas(...ids), ...pendingHere }],
  ['ok promotion', 'a promotion changes no key and no address', complete, published],
  ['warning promotion', "every webhook's secret, every token's key, the webhook origin addr", withStandby],
  ['warning promotion', 'would change the base addresses.', withoutNames, published],
  ['warning promotion', 'every key .multiRegionKeys is false.', { ...complete, multiRegionKeys: false }],
  ['warning promotion', 'the address of WalletEu is not recorded', withoutAddress, published],
  ['warning promotion', 'has 203.0.113.7 as .* has 203.0.113.4', complete, publishing('203.0.113.4')],
  ['warning promotion', "no address as the standby's, not 203.0.113.9", complete, publishing('203.0.113.7')],
  ['warning promotion', "203.0.113.8 as the standby's", complete, publishing('203.0.113.7', '203.0.113.8')],
  ['warning promotion', 'accessToken 2027-11: deploy it; on the day, put 2026-11 first', rotated, published],
  ['warning promotion', 'no replica of userAction 2026-11: .* no key', complete, withoutThird],
  ['failed serving', 'and the row says that it stands by', withStandby, standbyServes],
  ['failed serving', 'is a replica in wallet-eu: it would', withStandby, inGlobal('wallet-eu', false)],
  ['failed serving', 'wallet-other, the template has wallet-eu', withStandby, inGlobal('wallet-other', true)],
  ['ok serving', 'is the writer of wallet-eu', withStandby, inGlobal('wallet-eu', true)],
  ['ok serving', 'is in no global database', plain, running('17.9')],
  ['ok serving', 'a restore replaces', restoring, inGlobal('wallet-other', true)],
])('%s: %s', async (expected, text, environment, replies = {}) => {
  const which = checks.filter(({ id }) => expected.endsWith(` ${id}`));
  const found = await run(environment, replies, which);
  if (expected.startsWith('ok')) expect(found.filter(({ outcome }) => outcome !== 'ok')).toEqual([]);
  const lines = found.map(({ outcome, id, found, remedy }) => `${outcome} ${id}: ${found}. ${remedy}`);
  expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^${expected}: .*${text}`)));
});

it("checks the standby's region: concurrency, backups, certificate, versions and zones", async () => {
  const there = { ...concurrency(10), ...noBackups, ...offering('a'), ...pending };
  const replies = Object.entries(there).map(([name, reply]): [string, typeof reply] => [
    name,
    (call) => (call.region === standby.region ? reply : ready[name])?.(call) ?? {},
  ]);
  const failed = (await run(complete, Object.fromEntries(replies))).filter(
    ({ stack, outcome }) => stack === standby.stackId && outcome === 'failed',
  );
  const expected = ['backup-opt-in', 'certificate', 'database-engine', 'lambda-concurrency'];
  expect(failed.map(({ id }) => id).sort()).toEqual(expected);
});

const folder = temporaryFolder();
const preflight = (...args: string[]) =>
  wallet('preflight', '--environment', name, '--assembly', folder(), ...args);
const ofStandby = ['--stack', standby.stackId];
beforeEach(() => writeAssembly(folder(), { Resources }, stacksOf(withStandby), accountId));

it('prints an object, or a line for each check; only reads, each stack in its region, but for a dry run outside', async () => {
  account().answer(refusing('iam:GetRole', 'NoSuchEntity'), ready);
  const { checks: found, ...facts } = JSON.parse((await preflight('--json')).stdout);
  expect(facts).toEqual({ environment: name, account: accountId, passed: false });
  expect(found).toContainEqual(
    expect.objectContaining({ id: 'region', stack: serving, outcome: 'ok', remedy: null }),
  );
  const { exitCode, stdout } = await preflight();
  expect(exitCode).toBe(1);
  expect(stdout.trimEnd().split('\n')).toHaveLength(1 + 2 * checks.length);
  const { calls } = account();
  expect(calls.filter(({ action }) => !/^(Get|List|Describe)[A-Z]/.test(action))).toEqual([]);
  const asked = calls.filter(({ service }) => /^(ec2|rds)$/.test(service));
  const places = asked.map(({ region, input }) => `${region}${input.DryRun ? ', dry' : ''}`);
  expect(new Set(places)).toEqual(new Set([region, standby.region, 'us-east-1, dry']));
});

it('--stack fails for the stack to deploy only, but for what both share', async () => {
  account().answer(ready);
  const { exitCode, stdout } = await preflight(...ofStandby);
  expect(exitCode).toBe(0);
  // The other stack's row has placeholders.
  expect(stdout).toMatch(new RegExp(`^warning +${serving} +placeholders `, 'm'));
  account().answer(inGlobal('wallet-eu', false), ready);
  const ofBoth = new RegExp(`^failed +${serving} +serving `, 'm');
  expect(await preflight(...ofStandby)).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(ofBoth) });
});

it.each<[string, Replies, exitCode: number, said: RegExp]>([
  ['a first deployment', nothingDeployed, 1, /2 of \d+ not checked\.\nGrant what was refused/],
  ['an update, which may be a repair', running('17.9'), 0, /\nwarning: 2 of \d+ not checked: /],
])('--stack and a check that AWS refuses, before %s', async (_, state, exitCode, said) => {
  account().answer(refusing('iam:GetRole', 'AccessDenied'), state, ready);
  expect(await preflight(...ofStandby)).toMatchObject({ exitCode, stderr: expect.stringMatching(said) });
});

it('stops with the credentials of another account', async () => {
  account().answer(answering('sts:GetCallerIdentity', { Account: '999999999999' }));
  const stderr = expect.stringContaining('belong to account 999999999999, but');
  expect(await preflight()).toEqual({ exitCode: 1, stdout: '', stderr });
});
