import { type Call, type Replies, refusal, result } from './account';

export const accountId = '111122223333';
export const gatewayId = 'nat-0123456789abcdef0';

const quotas: Readonly<Record<string, number>> = {
  'L-0263D0A3': 5,
  'L-F678F1CE': 5,
  'L-FE5A380F': 5,
  'L-C2F1777E': 100_000,
};

/** Availability zones a, b and c of the region of a call. */
export const zonesIn = (region: string) => ['a', 'b', 'c'].map((letter) => `${region}${letter}`);

/** An account in which everything is ready for a first deployment, and some things of others are. */
export const ready: Replies = {
  'sts:GetCallerIdentity': () =>
    result({ Account: accountId, Arn: `arn:aws:iam::${accountId}:user/deployer`, UserId: 'AIDA' }),
  'iam:GetRole': ({ input }) => result({ Role: { Arn: `arn:aws:iam::${accountId}:role/${input.RoleName}` } }),
  'account:GetRegionOptStatus': ({ input }) =>
    result({ RegionName: input.RegionName, RegionOptStatus: 'ENABLED_BY_DEFAULT' }),
  'ssm:GetParameter': ({ input }) => result({ Parameter: { Name: input.Name, Value: '30' } }),
  'cloudformation:DescribeStacks': ({ input }) =>
    refusal('ValidationError', `Stack with id ${input.StackName} does not exist`),
  'ec2:DescribeAvailabilityZones': ({ region }) =>
    result({
      availabilityZoneInfo: zonesIn(region).map((zoneName) => ({ zoneName, zoneState: 'available' })),
    }),
  'ec2:DescribeAddresses': () => result({ addressesSet: [{ publicIp: '203.0.113.1' }] }),
  'ec2:DescribeVpcs': () => result({ vpcSet: [{ vpcId: 'vpc-1' }, { vpcId: 'vpc-2' }] }),
  'ec2:DescribeNatGateways': () => result({ natGatewaySet: [{ subnetId: 'subnet-1' }] }),
  'ec2:DescribeSubnets': ({ region }) =>
    result({ subnetSet: [{ subnetId: 'subnet-1', availabilityZone: `${region}b` }] }),
  'servicequotas:GetServiceQuota': ({ input }) =>
    result({ Quota: { QuotaCode: input.QuotaCode, Value: quotas[input.QuotaCode] } }),
  'kms:ListKeys': () => result({ Keys: [{ KeyId: 'one' }], Truncated: false }),
  'lambda:GetAccountSettings': () =>
    result({ AccountLimit: { ConcurrentExecutions: 1000, UnreservedConcurrentExecutions: 1000 } }),
  'rds:DescribeOrderableDBInstanceOptions': ({ region }) => orderable(`${region}a`, true),
  'health:DescribeEvents': () => result({ events: [] }),
};

/** What RDS says of the one zone that it offers the version in. */
export const orderable = (zone: string, SupportsHttpEndpoint?: boolean) =>
  result({
    OrderableDBInstanceOptions: {
      OrderableDBInstanceOption: {
        AvailabilityZones: { AvailabilityZone: { Name: zone } },
        SupportsHttpEndpoint,
      },
    },
  });

/** The account with stacks of these resources, by logical id. */
export const deployed = (
  resources: Readonly<Record<string, readonly [type: string, physicalId: string]>>,
): Replies => ({
  'cloudformation:DescribeStacks': inStatus('UPDATE_COMPLETE')['cloudformation:DescribeStacks'],
  'cloudformation:ListStackResources': () =>
    result({
      StackResourceSummaries: Object.entries(resources).map(([LogicalResourceId, [ResourceType, id]]) => ({
        LogicalResourceId,
        ResourceType,
        PhysicalResourceId: id,
        ResourceStatus: 'CREATE_COMPLETE',
      })),
    }),
  'rds:DescribeDBClusters': () => running('17.9'),
});

/** The account with stacks in this status, without resources. */
export const inStatus = (StackStatus: string) =>
  ({
    'cloudformation:DescribeStacks': ({ input }: Call) =>
      result({ Stacks: [{ StackName: input.StackName, StackStatus }] }),
    'cloudformation:ListStackResources': () => result({ StackResourceSummaries: [] }),
  }) satisfies Replies;

export const running = (EngineVersion: string) => result({ DBClusters: { DBCluster: { EngineVersion } } });
