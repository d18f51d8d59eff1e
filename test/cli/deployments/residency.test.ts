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
const globalOf = (...members: readonly string[]) => ({
  GlobalClusters: {
    'GlobalClusterMember[]': [
      {
        GlobalClusterMembers: {
          'GlobalClusterMember[]': members.map((DBClusterArn) => ({ DBClusterArn })),
        },
      },
    ],
  },
});
const sharedWith = (...values: readonly string[]) => ({
  DBClusterSnapshotAttributesResult: {
    DBClusterSnapshotAttributes: {
      'DBClusterSnapshotAttribute[]': [
        { AttributeName: 'restore', AttributeValues: { 'AttributeValue[]': values } },
      ],
    },
  },
});
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

/** An account in which everything is where it should be. */
const clean: Replies = {
  'sts:GetCallerIdentity': () => result({ Account: accountId }),
  'ec2:DescribeRegions': () => result({ regionInfo: enabled.map((regionName) => ({ regionName })) }),
  'tagging:GetResources': tagged(
    ...[
      region,
      cluster,
      key,
      secret,
      logGroup,
      arn('iam', '', 'oidc-provider/a'),
      arn('cloudwatch', '', 'dashboard/a'),
    ],
  ),
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
it.each<[finding: string, Replies]>([
  [`${foreign} is in ${outside}`, { 'tagging:GetResources': tagged(outside, foreign) }],
  [
    `arn:aws:cloudfront::${accountId}:distribution/a is in us-east-1`,
    {
      'ec2:DescribeRegions': () => result({ regionInfo: [{ regionName: 'us-east-1' }] }),
      'tagging:GetResources': tagged('us-east-1', `arn:aws:cloudfront::${accountId}:distribution/a`),
    },
  ],
  [
    `Account ${accountId} has no resource with the tags of ${name}: is it the right account?`,
    { 'tagging:GetResources': () => result({}) },
  ],
  [
    `${cluster} has the copy ${foreign}`,
    { 'rds:DescribeGlobalClusters': () => result(globalOf(cluster, foreign)) },
  ],
  [
    `${cluster} has the copy ${foreign}`,
    {
      'rds:DescribeDBClusters': inRegion(
        region,
        clusterWith({ ReadReplicaIdentifiers: { 'ReadReplicaIdentifier[]': [foreign] } }),
      ),
    },
  ],
  [
    `${snapshot} is shared with all`,
    { 'rds:DescribeDBClusterSnapshotAttributes': () => result(sharedWith('all')) },
  ],
  [
    `${snapshot} is in ${outside}`,
    { 'rds:DescribeDBClusterSnapshots': inRegion(outside, snapshotOf('manual')) },
  ],
  [`${vault} is not locked`, { 'backup:ListBackupVaults': vaults({ Locked: false }) }],
  [
    `${vault} can be restored through ${door}`,
    {
      'backup:ListRestoreAccessBackupVaults': () =>
        result({ RestoreAccessBackupVaults: [{ RestoreAccessBackupVaultArn: door }] }),
    },
  ],
  [
    `${key} is a multi-Region key, with replicas in ${outside}`,
    {
      'kms:DescribeKey': () => {
        const MultiRegionConfiguration = { ReplicaKeys: [{ Region: outside }] };
        return result({ KeyMetadata: { KeyId: '0123', MultiRegion: true, MultiRegionConfiguration } });
      },
    },
  ],
  [
    `${secret} has a replica in ${outside}`,
    { 'secretsmanager:DescribeSecret': () => result({ ReplicationStatus: [{ Region: outside }] }) },
  ],
  [
    `${logGroup} is sent to ${destination}`,
    { 'logs:DescribeSubscriptionFilters': () => result(filters(destination)) },
  ],
  [
    `The account policy a of ${region} sends logs: {}`,
    {
      'logs:DescribeAccountPolicies': inRegion(region, {
        accountPolicies: [{ policyName: 'a', policyDocument: '{}' }],
      }),
    },
  ],
  [`${rule} sends events to ${bus}`, { 'events:ListTargetsByRule': () => result(targets(lambda, bus)) }],
  [
    `${rule} sends events to ${destination}`,
    { 'events:ListTargetsByRule': () => result(targets(destination)) },
  ],
  [`API wallet of ${region} is edge-optimized`, { 'apigateway:GET': apis(['EDGE']) }],
  [
    `wallet-${name}-resources is not attached to the account`,
    { 'organizations:ListPoliciesForTarget': () => result(policies(`wallet-${name}-actions`)) },
  ],
])('finds that %s', async (finding, replies) => {
  expect(await findingsWith(replies)).toContain(finding);
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
  expect(exitCode).toBe(0);
  const rows = stdout
    .split('\n')
    .filter((line) => / \| not checked in (\d) of \1 regions \| 0 \|/.test(line));
  // Tags, keys, secrets, subscription filters.
  expect(rows).toHaveLength(4);
});
