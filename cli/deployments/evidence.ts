import { Backup } from '@aws-sdk/client-backup';
import { CloudFormation } from '@aws-sdk/client-cloudformation';
import { KMS } from '@aws-sdk/client-kms';
import { Organizations } from '@aws-sdk/client-organizations';
import { RDS, type Tag } from '@aws-sdk/client-rds';
import { ResourceGroupsTaggingAPI } from '@aws-sdk/client-resource-groups-tagging-api';
import { SecretsManager } from '@aws-sdk/client-secrets-manager';
import { acknowledgementsIn } from '../../domain/residency';
import type { Environment } from '../../lib/environments';
import { AwsCallFailed, callAws, callAwsPages, clientSettings } from '../shell/aws';

export interface Evidence {
  readonly what: string;
  readonly how: string;
  readonly regions: readonly string[];
  readonly seen: readonly string[];
  /** What leads out of the regions, or could. */
  readonly findings: readonly string[];
  readonly notChecked: readonly string[];
}

interface Question extends Pick<Evidence, 'what' | 'how' | 'regions'> {
  /** What is there, by name, each with its findings. */
  look(region: string): Promise<Seen>;
}
type Seen = readonly (readonly [name: string, ...findings: string[]])[];

async function answer({ look, ...question }: Question): Promise<Evidence> {
  const answers = question.regions.map(async (region) => {
    try {
      return { seen: await look(region), notChecked: [] };
    } catch (error) {
      if (!(error instanceof AwsCallFailed)) throw error;
      return { seen: [], notChecked: [`${region}: ${error.message}`] };
    }
  });
  const all = await Promise.all(answers);
  return {
    ...question,
    seen: all.flatMap(({ seen }) => seen.map(([name]) => name)),
    findings: all.flatMap(({ seen }) =>
      seen.flatMap(([name, ...findings]) => findings.map((finding) => `${name} ${finding}`)),
    ),
    notChecked: all.flatMap(({ notChecked }) => notChecked),
  };
}

/** One call after the other, within the services' rates. */
async function forEach<Item>(items: readonly Item[], look: (item: Item) => Promise<Seen[number]>) {
  const seen: Seen[number][] = [];
  for (const item of items) seen.push(await look(item));
  return seen;
}

/** What the checks at synthesis found, and somebody accepted with a reason. */
export const acknowledgedFindings = 'Acknowledged findings in the deployed templates';

/** These hold no data: docs/decisions/residency-checks.md. */
const globalServices = ['cloudwatch', 'iam'];
const regionOf = (arn: string) => arn.split(':')[3] ?? '';

export async function collectEvidence(
  { name, residencyRegions: own, multiRegionKeys = false }: Environment,
  account: string,
  enabled: readonly string[],
): Promise<readonly Evidence[]> {
  const staysWithin = (place: string) => (own.includes(place) ? [] : [`is in ${place}`]);
  /** Another environment may share the account. What has no tags may be a copy of this one's. */
  const isOfAnother = ({ TagList = [] }: { readonly TagList?: Tag[] | undefined }) =>
    TagList.some(({ Key, Value }) => Key === 'environment' && Value !== name);

  const tagged = await answer({
    what: "Resources with the environment's tags",
    how: 'tag:GetResources',
    regions: enabled,
    async look(region) {
      const client = new ResourceGroupsTaggingAPI(clientSettings(region));
      const TagFilters = [
        { Key: 'service', Values: ['wallet-infrastructure'] },
        { Key: 'environment', Values: [name] },
      ];
      const pages = await callAwsPages(client, 'getResources', { TagFilters }, 'PaginationToken');
      const resources = pages.flatMap(({ ResourceTagMappingList = [] }) => ResourceTagMappingList);
      return resources.map(({ ResourceARN: arn = '' }) => {
        const isGlobal = regionOf(arn) === '' && globalServices.includes(arn.split(':')[2] ?? '');
        return [arn, ...(isGlobal ? [] : staysWithin(regionOf(arn) || region))];
      });
    },
  });
  /** @throws AwsCallFailed where AWS did not tell the resources */
  function arnsOf(service: string, region: string, resource: string): readonly string[] {
    const refused = tagged.notChecked.find((each) => each.startsWith(`${region}: `));
    if (refused) throw new AwsCallFailed('', `which resources there are is unknown. ${refused}`);
    return tagged.seen.filter((arn) => arn.startsWith(`arn:aws:${service}:${region}:${account}:${resource}`));
  }

  const questions: readonly Question[] = [
    {
      what: 'Members and replicas of the database clusters',
      how: 'rds:DescribeDBClusters, rds:DescribeGlobalClusters',
      regions: own,
      async look(region) {
        const rds = new RDS(clientSettings(region));
        const clusters = await callAwsPages(rds, 'describeDBClusters', {}, 'Marker');
        const globals = await callAwsPages(rds, 'describeGlobalClusters', {}, 'Marker');
        const groups = globals
          .flatMap(({ GlobalClusters = [] }) => GlobalClusters)
          .map(({ GlobalClusterMembers = [] }) =>
            GlobalClusterMembers.flatMap(({ DBClusterArn = '', Readers = [] }) => [DBClusterArn, ...Readers]),
          );
        return clusters
          .flatMap(({ DBClusters = [] }) => DBClusters)
          .filter((cluster) => !isOfAnother(cluster))
          .map(({ DBClusterArn = '', ReadReplicaIdentifiers = [] }) => {
            const members = groups.filter((group) => group.includes(DBClusterArn)).flat();
            const copies = [...ReadReplicaIdentifiers, ...members].filter(
              (arn) => !own.includes(regionOf(arn)),
            );
            return [DBClusterArn, ...copies.map((arn) => `has the copy ${arn}`)];
          });
      },
    },
    {
      what: 'Snapshots of clusters, and with whom they are shared',
      how: 'rds:DescribeDBClusterSnapshots, rds:DescribeDBClusterSnapshotAttributes',
      regions: enabled,
      async look(region) {
        const rds = new RDS(clientSettings(region));
        const pages = await callAwsPages(rds, 'describeDBClusterSnapshots', {}, 'Marker');
        const snapshots = pages.flatMap(({ DBClusterSnapshots = [] }) => DBClusterSnapshots);
        return forEach(
          snapshots.filter((snapshot) => !isOfAnother(snapshot)),
          async ({ DBClusterSnapshotArn: arn = '', SnapshotType }) => {
            // Automated snapshots cannot be shared.
            // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-share-snapshot.html
            const isShareable = SnapshotType === 'manual' && own.includes(region);
            const input = { DBClusterSnapshotIdentifier: arn };
            const { DBClusterSnapshotAttributesResult: attributes } = isShareable
              ? await callAws(rds, 'describeDBClusterSnapshotAttributes', input)
              : {};
            const shared = (attributes?.DBClusterSnapshotAttributes ?? []).flatMap(
              ({ AttributeValues = [] }) => AttributeValues,
            );
            return [arn, ...staysWithin(region), ...shared.map((by) => `is shared with ${by}`)];
          },
        );
      },
    },
    {
      // Their backups lie in an account of AWS in the same region: docs/decisions/air-gapped-backups.md.
      what: 'Air-gapped vaults, and other accounts that may restore from them',
      how: 'backup:ListBackupVaults, backup:ListRestoreAccessBackupVaults',
      regions: own,
      async look(region) {
        const client = new Backup(clientSettings(region));
        const ByVaultType = 'LOGICALLY_AIR_GAPPED_BACKUP_VAULT';
        const pages = await callAwsPages(client, 'listBackupVaults', { ByVaultType });
        const vaults = pages
          .flatMap(({ BackupVaultList = [] }) => BackupVaultList)
          .filter((vault) => vault.BackupVaultName?.startsWith(`wallet-${name}-`));
        return forEach(vaults, async ({ BackupVaultName, BackupVaultArn: arn = '', Locked }) => {
          const doors = await callAwsPages(client, 'listRestoreAccessBackupVaults', { BackupVaultName });
          const accesses = doors.flatMap(({ RestoreAccessBackupVaults = [] }) => RestoreAccessBackupVaults);
          return [
            arn,
            ...(Locked ? [] : ['is not locked']),
            ...accesses.map((door) => `can be restored through ${door.RestoreAccessBackupVaultArn}`),
          ];
        });
      },
    },
    {
      what: 'Multi-Region keys',
      how: 'kms:DescribeKey',
      regions: own,
      look: async (region) =>
        forEach(arnsOf('kms', region, 'key/'), async (arn) => {
          const { KeyMetadata } = await callAws(new KMS(clientSettings(region)), 'describeKey', {
            KeyId: arn,
          });
          if (!KeyMetadata?.MultiRegion) return [arn];
          const { PrimaryKey, ReplicaKeys = [] } = KeyMetadata.MultiRegionConfiguration ?? {};
          const places = [PrimaryKey, ...ReplicaKeys].map((each) => each?.Region ?? '');
          const others = places.filter((place) => place !== region).join(', ') || 'no other region yet';
          const isAllowed = multiRegionKeys && places.every((place) => own.includes(place));
          // The page lists these.
          return [`${arn}, also in ${others}`, ...(isAllowed ? [] : ['is a multi-Region key'])];
        }),
    },
    {
      what: 'Replicas of secrets',
      how: 'secretsmanager:DescribeSecret',
      regions: own,
      look: async (region) =>
        forEach(arnsOf('secretsmanager', region, 'secret:'), async (arn) => {
          const client = new SecretsManager(clientSettings(region));
          const { ReplicationStatus = [] } = await callAws(client, 'describeSecret', { SecretId: arn });
          return [arn, ...ReplicationStatus.map(({ Region }) => `has a replica in ${Region}`)];
        }),
    },
    {
      what: acknowledgedFindings,
      how: 'cloudformation:GetTemplate',
      regions: own,
      look: async (region) => {
        const client = new CloudFormation(clientSettings(region));
        const stacks = await Promise.all(
          arnsOf('cloudformation', region, 'stack/').map(async (StackName) => {
            const { TemplateBody = '{}' } = await callAws(client, 'getTemplate', { StackName });
            return acknowledgementsIn(JSON.parse(TemplateBody)).map(
              ({ logicalId, rule, reason }) =>
                [`${StackName.split('/')[1]} ${logicalId}: ${rule}. ${reason}`] as const,
            );
          }),
        );
        return stacks.flat();
      },
    },
    {
      // The only region of Organizations. A member account may not ask unless it is delegated.
      what: 'Guardrails attached to the account',
      how: 'organizations:ListPoliciesForTarget',
      regions: ['us-east-1'],
      async look(region) {
        const client = new Organizations(clientSettings(region));
        const attachedOf = async (Filter: 'SERVICE_CONTROL_POLICY' | 'RESOURCE_CONTROL_POLICY') => {
          const pages = await callAwsPages(client, 'listPoliciesForTarget', { TargetId: account, Filter });
          return pages.flatMap(({ Policies = [] }) => Policies.map((policy) => policy.Name ?? ''));
        };
        const attached = [
          ...(await attachedOf('SERVICE_CONTROL_POLICY')),
          ...(await attachedOf('RESOURCE_CONTROL_POLICY')),
        ];
        return [`wallet-${name}-actions`, `wallet-${name}-resources`].map((policy) =>
          attached.includes(policy) ? [policy] : [policy, 'is not attached to the account'],
        );
      },
    },
  ];
  return [tagged, ...(await Promise.all(questions.map(answer)))];
}
