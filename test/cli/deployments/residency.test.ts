import { withStandby } from '../../support/rows';
import { type Call, type Replies, refusal, result, useAccount } from '../account';
import { wallet } from '../region';

const account = useAccount();
const accountId = '111122223333';
const { name, region, standby, residencyRegions } = withStandby;
const outside = 'sa-east-1';
const enabled = [...residencyRegions, outside];
const arn = (service: string, place: string, resource: string) =>
  `arn:aws:${service}:${place}:${accountId}:${resource}`;

const inRegion =
  (place: string, value: object, elsewhere: object = {}) =>
  (call: Call) =>
    result(call.region === place ? value : elsewhere);
const tagged = (place: string, ...arns: readonly string[]) =>
  inRegion(place, { ResourceTagMappingList: arns.map((ResourceARN) => ({ ResourceARN })) });
const [cluster, copy] = [arn('rds', region, 'cluster:wallet'), arn('rds', standby.region, 'cluster:wallet')];
const snapshot = arn('rds', region, 'cluster-snapshot:final');
const key = arn('kms', region, 'key/0123');
const secret = arn('secretsmanager', region, 'secret:Owner-abc');
const logGroup = arn('logs', region, 'log-group:/aws/lambda/a:b');
const rule = arn('events', region, 'rule/Purge');
const lambda = arn('lambda', region, 'function:purge');
const snapshotOf = (SnapshotType: string, tags: object = {}) => ({
  DBClusterSnapshots: { 'DBClusterSnapshot[]': [{ DBClusterSnapshotArn: snapshot, SnapshotType, ...tags }] },
});
const taggedFor = (of: string) => ({ TagList: { 'Tag[]': [{ Key: 'environment', Value: of }] } });
const clusterWith = (more: object = {}) => ({
  DBClusters: { 'DBCluster[]': [{ DBClusterArn: cluster, ...taggedFor(name), ...more }] },
});
function globalOf(...arns: readonly string[]) {
  const members = { 'GlobalClusterMember[]': arns.map((DBClusterArn) => ({ DBClusterArn })) };
  return { GlobalClusters: { 'GlobalClusterMember[]': [{ GlobalClusterMembers: members }] } };
}
function sharedWith(...values: readonly string[]) {
  const attribute = { AttributeName: 'restore', AttributeValues: { 'AttributeValue[]': values } };
  const DBClusterSnapshotAttributes = { 'DBClusterSnapshotAttribute[]': [attribute] };
  return { DBClusterSnapshotAttributesResult: { DBClusterSnapshotAttributes } };
}
const filters = (...destinations: readonly string[]) => ({
  subscriptionFilters: destinations.map((destinationArn) => ({ filterName: 'a', destinationArn })),
});
const targets = (...arns: readonly string[]) => ({ Targets: arns.map((Arn) => ({ Id: 'a', Arn })) });
const apis =
  (types: readonly string[], tags: object = { environment: name }) =>
  ({ input, region: place }: Call) =>
    result(
      input.collection === 'restapis' && place === region
        ? { item: [{ name: 'wallet', endpointConfiguration: { types }, tags }] }
        : {},
    );
const vault = arn('backup', region, `backup-vault:wallet-${name}-0123abcd-35-days`);
const vaults = (...all: readonly object[]) =>
  inRegion(region, {
    BackupVaultList: all.map((each) => ({
      ...{ BackupVaultName: vault.split(':').at(-1), BackupVaultArn: vault, Locked: true },
      ...each,
    })),
  });
const policies = (...names: readonly string[]) => ({ Policies: names.map((Name) => ({ Name })) });

const global = [arn('iam', '', 'oidc-provider/a'), arn('cloudwatch', '', 'dashboard/a')];

/** An account in which everything is where it should be. */
const clean: Replies = {
  'sts:GetCallerIdentity': () => result({ Account: accountId }),
  'ec2:DescribeRegions': () => result({ regionInfo: enabled.map((regionName) => ({ regionName })) }),
  'tagging:GetResources': tagged(region, cluster, key, secret, logGroup, ...global),
  'rds:DescribeDBClusters': inRegion(region, clusterWith()),
  'rds:DescribeGlobalClusters': () => result(globalOf(cluster, copy)),
  'rds:DescribeDBClusterSnapshots': inRegion(region, snapshotOf('manual')),
  'rds:DescribeDBClusterSnapshotAttributes': () => result(sharedWith()),
  'backup:ListBackupVaults': vaults({}),
  'backup:ListRestoreAccessBackupVaults': () => result({ RestoreAccessBackupVaults: [] }),
  'kms:DescribeKey': () => result({ KeyMetadata: { KeyId: '0123', MultiRegion: false } }),
  'secretsmanager:DescribeSecret': () => result({ ARN: secret }),
  'logs:DescribeAccountPolicies': () => result({ accountPolicies: [] }),
  'logs:DescribeSubscriptionFilters': () => result(filters()),
  'events:ListRules': inRegion(region, { Rules: [{ Name: 'Purge', Arn: rule }] }),
  'events:ListTargetsByRule': () => result(targets(lambda)),
  'apigateway:GET': apis(['REGIONAL']),
  'organizations:ListPoliciesForTarget': () =>
    result(policies(`wallet-${name}-actions`, `wallet-${name}-resources`)),
};

const run = (...args: string[]) => wallet('residency', '--environment', name, ...args);
async function findingsWith(replies: Replies): Promise<readonly string[]> {
  account().answer(replies, clean);
  const { exitCode, stdout } = await run('--json');
  const { findings, notChecked } = JSON.parse(stdout);
  expect({ exitCode, notChecked }).toEqual({ exitCode: findings.length > 0 ? 1 : 0, notChecked: [] });
  return findings;
}

it('prints a page of Markdown without findings, and only reads, with the calls that it names', async () => {
  account().answer(clean);
  const { exitCode, stdout, stderr } = await run();
  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: expect.stringMatching(/\n\w+: 0 findings, 0 calls not checked\.\n$/),
  });
  const day = new Date().toISOString().slice(0, 10);
  expect(stdout).toMatch(new RegExp(`^# Residency of ${name}\\n\\nAWS account ${accountId}, on ${day} at `));
  expect(stdout).toContain(`Regions looked at: ${enabled.join(', ')}.\n`);
  const rows = stdout.split('\n').filter((line) => / \| ok \| [1-9]\d* \|/.test(line));
  expect(rows).toHaveLength(10);
  expect(rows[0]).toBe(
    "| Resources with the environment's tags | all of these regions | ok | 6 | tag:GetResources |",
  );
  expect(stdout).toMatch(/\nNo findings\.\n$/);
  const { calls } = account();
  expect(calls.filter(({ action }) => !/^(Get|List|Describe)[A-Z]|^GET$/.test(action))).toEqual([]);
  const said = Array.from(stdout.matchAll(/\b[a-z]+:([A-Z]\w+)/g), ([, action]) => action);
  const own = ['GetCallerIdentity', 'DescribeRegions'];
  expect(new Set(calls.map(({ action }) => action))).toEqual(new Set([...said, ...own]));
  const asked = (action: string) => calls.flatMap((call) => (call.action === action ? [call.region] : []));
  for (const action of ['GetResources', 'DescribeDBClusterSnapshots'])
    expect(new Set(asked(action))).toEqual(new Set(enabled));
  expect(new Set(asked('ListRules'))).toEqual(new Set(residencyRegions));
});

const foreign = arn('rds', outside, 'cluster:wallet');
const bus = `arn:aws:events:${region}:999999999999:event-bus/a`;
const door = `arn:aws:backup:${region}:999999999999:backup-vault:door`;
const destination = arn('events', region, 'api-destination/a');
const distribution = `arn:aws:cloudfront::${accountId}:distribution/a`;
const always = (value: object) => () => result(value);

it('finds everything that leads out of the regions', async () => {
  const tags = [tagged(region, cluster, key, secret, logGroup), tagged(outside, foreign, distribution)];
  const copies = { ReadReplicaIdentifiers: { 'ReadReplicaIdentifier[]': [`${foreign}-replica`] } };
  const MultiRegionConfiguration = { ReplicaKeys: [{ Region: outside }] };
  const found = await findingsWith({
    'tagging:GetResources': (call) => tags[call.region === outside ? 1 : 0]?.(call) ?? {},
    'rds:DescribeDBClusters': inRegion(region, clusterWith(copies)),
    'rds:DescribeGlobalClusters': always(globalOf(cluster, foreign)),
    'rds:DescribeDBClusterSnapshots': () => result(snapshotOf('manual')),
    'rds:DescribeDBClusterSnapshotAttributes': inRegion(region, sharedWith('all')),
    'backup:ListBackupVaults': vaults({ Locked: false }),
    'backup:ListRestoreAccessBackupVaults': always({
      RestoreAccessBackupVaults: [{ RestoreAccessBackupVaultArn: door }],
    }),
    'kms:DescribeKey': always({ KeyMetadata: { MultiRegion: true, MultiRegionConfiguration } }),
    'secretsmanager:DescribeSecret': always({ ReplicationStatus: [{ Region: outside }] }),
    'logs:DescribeSubscriptionFilters': always(filters(destination)),
    'logs:DescribeAccountPolicies': inRegion(region, {
      accountPolicies: [{ policyName: 'a', policyDocument: '{}' }],
    }),
    'events:ListTargetsByRule': always(targets(lambda, bus, destination)),
    'apigateway:GET': apis(['EDGE']),
    'organizations:ListPoliciesForTarget': always(policies(`wallet-${name}-actions`)),
  });
  expect(found).toEqual([
    `${foreign} is in ${outside}`,
    `${distribution} is in ${outside}`,
    `${cluster} has the copy ${foreign}-replica`,
    `${cluster} has the copy ${foreign}`,
    `${snapshot} is shared with all`,
    `${snapshot} is in ${outside}`,
    `${vault} is not locked`,
    `${vault} can be restored through ${door}`,
    `${key} is a multi-Region key, with replicas in ${outside}`,
    `${secret} has a replica in ${outside}`,
    `${logGroup} is sent to ${destination}`,
    `The account policy a of ${region} sends logs: {}`,
    `${rule} sends events to ${bus}`,
    `${rule} sends events to ${destination}`,
    `API wallet of ${region} is edge-optimized`,
    `wallet-${name}-resources is not attached to the account`,
  ]);
});

it('finds an account without the environment', async () => {
  const nothing = `Account ${accountId} has no resource with the tags of ${name}: is it the right account?`;
  expect(await findingsWith({ 'tagging:GetResources': always({}) })).toEqual([nothing]);
});

it("leaves another environment's resources in a shared account to its own evidence", async () => {
  const snapshots = inRegion(outside, snapshotOf('manual', taggedFor('another')));
  const others = {
    'backup:ListBackupVaults': vaults({ BackupVaultName: 'wallet-another-1', Locked: false }),
    'rds:DescribeDBClusterSnapshots': snapshots,
    'apigateway:GET': apis(['EDGE'], { environment: 'a' }),
  };
  expect(await findingsWith(others)).toEqual([]);
});

it('follows pages, and asks for what is on a later one', async () => {
  const pages = ({ region: place, input: { PaginationToken = '' } }: Call) =>
    result({
      PaginationToken: PaginationToken ? '' : 'more',
      ResourceTagMappingList: place === region && PaginationToken ? [{ ResourceARN: key }] : [],
    });
  account().answer({ 'tagging:GetResources': pages }, clean);
  expect(JSON.parse((await run('--json')).stdout).evidence[0].seen).toEqual([key]);
  expect(account().calls.filter(({ action }) => action === 'DescribeKey')).toHaveLength(1);
});

it('lists what AWS refuses as not checked, and still looks at the rest', async () => {
  const refused = ['ec2:DescribeRegions', 'organizations:ListPoliciesForTarget', 'events:ListRules'];
  const replies = refused.map((action) => [action, () => refusal('AccessDeniedException')] as const);
  account().answer(Object.fromEntries(replies), clean);
  const { exitCode, stdout, stderr } = await run();
  expect(exitCode).toBe(0);
  expect(stderr).toContain(`warning: ${name}: 0 findings, ${2 + residencyRegions.length} calls not checked.`);
  expect(stdout).toContain(
    '| Guardrails attached to the account | us-east-1 | not checked in 1 of 1 regions | 0 | organizations:',
  );
  expect(stdout).toMatch(
    /\n## Not checked\n\n- Regions outside of the environment: ec2:DescribeRegions failed\./,
  );
  expect(stdout).toContain(`- ${region}: events:ListRules failed: AccessDeniedException`);
});

it('what depends on tags is not checked where AWS does not tell them', async () => {
  account().answer({ 'tagging:GetResources': () => refusal('AccessDeniedException') }, clean);
  const { exitCode, stdout } = await run();
  const rows = stdout.match(/ \| not checked in (\d) of \1 regions \| 0 \|/g);
  // Tags, keys, secrets, subscription filters.
  expect([exitCode, rows?.length]).toEqual([0, 4]);
});
