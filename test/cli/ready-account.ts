import { type Call, type Replies, refusal, result } from './local-account';

export const accountId = '111122223333';

/** Availability zones of the region of a call, by their letters. */
export const zonesInState = (region: string, states: Readonly<Record<string, string>>) =>
  result({
    availabilityZoneInfo: Object.entries(states).map(([letter, zoneState]) => ({
      zoneName: `${region}${letter}`,
      zoneState,
    })),
  });

/** An account in which everything is ready for a first deployment. */
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
    zonesInState(region, { a: 'available', b: 'available', c: 'available' }),
  'lambda:GetAccountSettings': () =>
    result({ AccountLimit: { ConcurrentExecutions: 1000, UnreservedConcurrentExecutions: 1000 } }),
  'rds:DescribeOrderableDBInstanceOptions': ({ region }) => orderable(`${region}a`, true),
};

/** RDS's response: the version is available in one zone. */
export const orderable = (zone: string, SupportsHttpEndpoint?: boolean) =>
  result({
    OrderableDBInstanceOptions: {
      OrderableDBInstanceOption: {
        AvailabilityZones: { AvailabilityZone: { Name: zone } },
        SupportsHttpEndpoint,
      },
    },
  });

/** The account with stacks in this status, with these resources. */
export const deployed = (
  StackStatus: string,
  resources: readonly (readonly [type: string, physicalId: string])[] = [],
): Replies => ({
  'cloudformation:DescribeStacks': ({ input }: Call) =>
    result({ Stacks: [{ StackName: input.StackName, StackStatus }] }),
  'cloudformation:ListStackResources': () =>
    result({
      StackResourceSummaries: resources.map(([ResourceType, PhysicalResourceId], index) => ({
        LogicalResourceId: `Resource${index}`,
        ResourceType,
        PhysicalResourceId,
        ResourceStatus: 'CREATE_COMPLETE',
      })),
    }),
});
