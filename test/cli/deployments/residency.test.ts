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
/** On the second of two pages. */
const tagged =
  (place: string, ...arns: readonly string[]) =>
  ({ region, input }: Call) => {
    if (!input.PaginationToken) return result({ PaginationToken: 'more', ResourceTagMappingList: [] });
    const ResourceTagMappingList = (region === place ? arns : []).map((ResourceARN) => ({ ResourceARN }));
    return result({ PaginationToken: '', ResourceTagMappingList });
  };
const [cluster, copy] = [arn('rds', region, 'cluster:wallet'), arn('rds', standby.region, 'cluster:wallet')];
const snapshot = arn('rds', region, 'cluster-snapshot:final');
const key = arn('kms', region, 'key/0123');
const secret = arn('secretsmanager', region, 'secret:Owner-abc');
const tagsOf = (Value: string) => ({ TagList: { Tag: { Key: 'environment', Value } } });
const snapshotWith = (more: object = {}) => {
  const DBClusterSnapshot = { DBClusterSnapshotArn: snapshot, SnapshotType: 'manual', ...more };
  return { DBClusterSnapshots: { DBClusterSnapshot } };
};
const clusterWith = (more: object = {}) => ({
  DBClusters: { DBCluster: { DBClusterArn: cluster, ...tagsOf(name), ...more } },
});
const globalOf = (...arns: readonly string[]) => {
  const members = { 'GlobalClusterMember[]': arns.map((DBClusterArn) => ({ DBClusterArn })) };
  return { GlobalClusters: { GlobalClusterMember: { GlobalClusterMembers: members } } };
};
const sharedWith = (AttributeValue?: string) => {
  const attribute = { AttributeName: 'restore', AttributeValues: { AttributeValue } };
  const DBClusterSnapshotAttributes = { DBClusterSnapshotAttribute: attribute };
  return { DBClusterSnapshotAttributesResult: { DBClusterSnapshotAttributes } };
};
const vault = arn('backup', region, `backup-vault:wallet-${name}-0123abcd-35-days`);
const vaultWith = (more: object = {}) => {
  const known = { BackupVaultName: vault.split(':').at(-1), BackupVaultArn: vault, Locked: true };
  return inRegion(region, { BackupVaultList: [{ ...known, ...more }] });
};
const always = (value: object) => () => result(value);
const policies =
  (...kinds: readonly string[]) =>
  ({ input: { Filter } }: Call) => {
    const asked = Filter === 'SERVICE_CONTROL_POLICY' ? 'actions' : 'resources';
    const found = kinds.filter((kind) => kind === asked);
    return result({ Policies: found.map((kind) => ({ Name: `wallet-${name}-${kind}` })) });
  };

const global = [arn('iam', '', 'oidc-provider/a'), arn('cloudwatch', '', 'dashboard/a')];

const stack = arn('cloudformation', region, 'stack/WalletReports/0123');
const ResidencyAcknowledgements = { Handler: { 'unreviewed[Type]': 'SEC-1: our layer' } };
const template = { Metadata: { ResidencyAcknowledgements }, Resources: {} };

const replicatedIn = (Region: string) => {
  const MultiRegionConfiguration = { PrimaryKey: { Region: region }, ReplicaKeys: [{ Region }] };
  return { KeyMetadata: { MultiRegion: true, MultiRegionConfiguration } };
};

/** An account in which everything is where it should be. */
const clean: Replies = {
  'sts:GetCallerIdentity': always({ Account: accountId }),
  'ec2:DescribeRegions': always({ regionInfo: enabled.map((regionName) => ({ regionName })) }),
  'tagging:GetResources': tagged(region, cluster, key, secret, stack, ...global),
  'rds:DescribeDBClusters': inRegion(region, clusterWith()),
  'rds:DescribeGlobalClusters': always(globalOf(cluster, copy)),
  'rds:DescribeDBClusterSnapshots': inRegion(region, snapshotWith()),
  'rds:DescribeDBClusterSnapshotAttributes': always(sharedWith()),
  'backup:ListBackupVaults': vaultWith(),
  'backup:ListRestoreAccessBackupVaults': always({ RestoreAccessBackupVaults: [] }),
  'kms:DescribeKey': always(replicatedIn(standby.region)),
  'secretsmanager:DescribeSecret': always({ ARN: secret }),
  'cloudformation:GetTemplate': () => result({ TemplateBody: JSON.stringify(template) }),
  'organizations:ListPoliciesForTarget': policies('actions', 'resources'),
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
  const { exitCode, stdout } = await run();
  expect(exitCode).toBe(0);
  const day = new Date().toISOString().slice(0, 10);
  expect(stdout).toMatch(new RegExp(`^# Residency of ${name}\\n\\nAWS account ${accountId}, on ${day} at `));
  expect(stdout).toContain(`Regions looked at: ${enabled.join(', ')}.\n`);
  expect(stdout.match(/ \| ok \| [1-9]\d* \|/g)).toHaveLength(8);
  expect(stdout).toMatch(/\nNo findings\.\n$/);
  expect(stdout).toContain(
    '## Acknowledged at synthesis\n\n- WalletReports Handler: unreviewed[Type]. SEC-1: our layer\n',
  );
  expect(stdout).toContain(`\n## Keys in several regions\n\n- ${key}, also in ${standby.region}\n`);
  const { calls } = account();
  const called = [...new Set(calls.map(({ action }) => action))];
  expect(called.filter((action) => !/^(Get|List|Describe)[A-Z]/.test(action))).toEqual([]);
  const said = Array.from(stdout.matchAll(/\b[a-z]+:([A-Z]\w+)/g), ([, action]) => action);
  expect(called.sort()).toEqual([...new Set([...said, 'GetCallerIdentity', 'DescribeRegions'])].sort());
  const asked = (action: string) => calls.flatMap((call) => (call.action === action ? [call.region] : []));
  for (const action of ['GetResources', 'DescribeDBClusterSnapshots'])
    expect(new Set(asked(action))).toEqual(new Set(enabled));
  expect(new Set(asked('ListBackupVaults'))).toEqual(new Set(residencyRegions));
});

const foreign = arn('rds', outside, 'cluster:wallet');
const door = `arn:aws:backup:${region}:999999999999:backup-vault:door`;
const distribution = `arn:aws:cloudfront::${accountId}:distribution/a`;
it('finds everything that leads out of the regions', async () => {
  const tags = [tagged(region, cluster, key, secret), tagged(outside, foreign, distribution)];
  const copies = { ReadReplicaIdentifiers: { 'ReadReplicaIdentifier[]': [`${foreign}-replica`] } };
  const RestoreAccessBackupVaults = [{ RestoreAccessBackupVaultArn: door }];
  const found = await findingsWith({
    'tagging:GetResources': (call) => tags[call.region === outside ? 1 : 0]?.(call) ?? {},
    'rds:DescribeDBClusters': inRegion(region, clusterWith(copies)),
    'rds:DescribeGlobalClusters': always(globalOf(cluster, foreign)),
    'rds:DescribeDBClusterSnapshots': () => result(snapshotWith()),
    'rds:DescribeDBClusterSnapshotAttributes': inRegion(region, sharedWith('all')),
    'backup:ListBackupVaults': vaultWith({ Locked: false }),
    'backup:ListRestoreAccessBackupVaults': always({ RestoreAccessBackupVaults }),
    'kms:DescribeKey': always(replicatedIn(outside)),
    'secretsmanager:DescribeSecret': always({ ReplicationStatus: [{ Region: outside }] }),
    'organizations:ListPoliciesForTarget': policies('actions'),
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
    `${key}, also in ${outside} is a multi-Region key`,
    `${secret} has a replica in ${outside}`,
    `wallet-${name}-resources is not attached to the account`,
  ]);
});

it("proves nothing without resources of the environment, and leaves another's in the account to its own evidence", async () => {
  const nothing = `Account ${accountId} has no resource with the tags of ${name}: is it the right account?`;
  expect(await findingsWith({ 'tagging:GetResources': tagged(region) })).toEqual([nothing]);
  const others = {
    'backup:ListBackupVaults': vaultWith({ BackupVaultName: 'wallet-another-1', Locked: false }),
    'rds:DescribeDBClusterSnapshots': inRegion(outside, snapshotWith(tagsOf('another'))),
  };
  expect(await findingsWith(others)).toEqual([]);
});

it('lists what AWS refuses, and what depends on it, as not checked, and still looks at the rest', async () => {
  const refused = ['organizations:ListPoliciesForTarget', 'backup:ListBackupVaults', 'tagging:GetResources'];
  const deny = () => refusal('AccessDenied');
  const replies = [...refused, 'ec2:DescribeRegions'].map((action) => [action, deny]);
  account().answer(Object.fromEntries(replies), clean);
  const { exitCode, stdout, stderr } = await run();
  expect(exitCode).toBe(0);
  expect(stderr).toContain(`warning: ${name}: 0 findings, `);
  // Keys, secrets and stacks are found by their tags.
  expect(stdout.match(/ \| not checked in (\d) of \1 regions \| 0 \|/g)).toHaveLength(refused.length + 3);
  expect(stdout.match(/ \| ok \| [1-9]/g)).toHaveLength(8 - refused.length - 3);
  expect(stdout).toContain('\n- Regions outside of the environment: ec2:DescribeRegions failed.\n');
  expect(stdout).toContain(`\n- ${region}: backup:ListBackupVaults failed: AccessDenied`);
  // By their permissions' names, as the page has them.
  for (const [, call] of stdout.matchAll(/ (\w+:\w+) failed: /g))
    expect(stdout).toMatch(new RegExp(`\\| [^|]*\\b${call}\\b[^|]* \\|\n`));
});
