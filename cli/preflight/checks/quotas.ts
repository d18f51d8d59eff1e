import { collect } from '../../pages';
import { CallFailed } from '../call';
import { type Check, type Context, failed, ok } from '../check';
import { resourcesOf } from '../plan';

interface Place {
  readonly name: string;
  readonly used: number;
}

interface Quota {
  readonly id: string;
  readonly title: string;
  /** The resource that takes room, as the template calls it. */
  readonly type: string;
  readonly service: string;
  readonly code: string;
  /** How many there are, in each place that the quota holds for. */
  used(context: Context): Promise<readonly Place[]>;
}

const quotas: readonly Quota[] = [
  {
    // https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html#vpc-limits-eips
    id: 'elastic-ips',
    title: 'quota: Elastic IPs',
    type: 'AWS::EC2::EIP',
    service: 'ec2',
    code: 'L-0263D0A3',
    async used({ stack, clientSettings, call }) {
      const { DescribeAddressesCommand, EC2Client } = await import('@aws-sdk/client-ec2');
      const client = new EC2Client(clientSettings);
      const { Addresses = [] } = await call('ec2:DescribeAddresses', (options) =>
        client.send(new DescribeAddressesCommand({}), options),
      );
      return [{ name: stack.region, used: Addresses.length }];
    },
  },
  {
    // https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html#vpc-limits-vpcs-subnets
    id: 'vpcs',
    title: 'quota: VPCs',
    type: 'AWS::EC2::VPC',
    service: 'vpc',
    code: 'L-F678F1CE',
    async used({ stack, clientSettings, call }) {
      const { EC2Client, paginateDescribeVpcs } = await import('@aws-sdk/client-ec2');
      const client = new EC2Client(clientSettings);
      const vpcs = await call('ec2:DescribeVpcs', (options) =>
        collect(paginateDescribeVpcs({ client }, {}, options), (page) => page.Vpcs),
      );
      return [{ name: stack.region, used: vpcs.length }];
    },
  },
  {
    // In each zone, because the webhook origin may move to any. Gateways count while pending, available or deleting:
    // https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html#vpc-limits-gateways
    id: 'nat-gateways',
    title: 'quota: NAT gateways in a zone',
    type: 'AWS::EC2::NatGateway',
    service: 'vpc',
    code: 'L-FE5A380F',
    async used({ stack, clientSettings, call }) {
      const { EC2Client, paginateDescribeNatGateways, paginateDescribeSubnets } = await import(
        '@aws-sdk/client-ec2'
      );
      const client = new EC2Client(clientSettings);
      const Filter = [{ Name: 'state', Values: ['pending', 'available', 'deleting'] }];
      const [gateways, subnets] = await Promise.all([
        call('ec2:DescribeNatGateways', (options) =>
          collect(paginateDescribeNatGateways({ client }, { Filter }, options), (page) => page.NatGateways),
        ),
        call('ec2:DescribeSubnets', (options) =>
          collect(paginateDescribeSubnets({ client }, {}, options), (page) => page.Subnets),
        ),
      ]);
      const zoneOf = new Map(subnets.map(({ SubnetId, AvailabilityZone }) => [SubnetId, AvailabilityZone]));
      return stack.zones.map((zone) => ({
        name: zone,
        used: gateways.filter(({ SubnetId }) => zoneOf.get(SubnetId) === zone).length,
      }));
    },
  },
  {
    // ListKeys lists AWS managed keys too, which do not count: some too many, of 100,000.
    // https://docs.aws.amazon.com/kms/latest/developerguide/resource-limits.html#kms-keys-limit
    id: 'kms-keys',
    title: 'quota: KMS keys',
    type: 'AWS::KMS::Key',
    service: 'kms',
    code: 'L-C2F1777E',
    async used({ stack, clientSettings, call }) {
      const { KMSClient, paginateListKeys } = await import('@aws-sdk/client-kms');
      const client = new KMSClient(clientSettings);
      const keys = await call('kms:ListKeys', (options) =>
        collect(paginateListKeys({ client }, { Limit: 1000 }, options), (page) => page.Keys),
      );
      return [{ name: stack.region, used: keys.length }];
    },
  },
];

export const quotaChecks: readonly Check[] = quotas.map((quota) => ({
  id: quota.id,
  title: quota.title,
  scope: 'stack',
  async ask(context) {
    const { stack, deployedResources } = context;
    const planned = resourcesOf(stack, quota.type);
    if (planned.length === 0) return ok('the stack makes none');
    const there = new Set((await deployedResources()).map(({ logicalId }) => logicalId));
    const needed = planned.filter(({ logicalId }) => !there.has(logicalId)).length;
    if (needed === 0) return ok('the deployed stack has its own already');

    const [limit, places] = await Promise.all([limitOf(quota, context), quota.used(context)]);
    const full = places.filter(({ used }) => used + needed > limit);
    const found = (full.length > 0 ? full : places).map(
      ({ name, used }) => `${used} of ${limit} used in ${name}`,
    );
    const described = `${found.join(', ')}, ${needed} more needed`;
    const most = Math.max(...places.map(({ used }) => used));
    return full.length === 0
      ? ok(described)
      : failed(described, remedyOf(quota, most + needed, stack.region));
  },
}));

/** The account's own quota, or AWS's default, which holds until somebody asked for more. */
async function limitOf(
  { service: ServiceCode, code: QuotaCode }: Quota,
  { clientSettings, call }: Context,
): Promise<number> {
  const { GetAWSDefaultServiceQuotaCommand, GetServiceQuotaCommand, ServiceQuotasClient } = await import(
    '@aws-sdk/client-service-quotas'
  );
  const client = new ServiceQuotasClient(clientSettings);
  const own = call('servicequotas:GetServiceQuota', (options) =>
    client.send(new GetServiceQuotaCommand({ ServiceCode, QuotaCode }), options),
  );
  const { Quota } = await own.catch((error: unknown) => {
    if (!(error instanceof CallFailed) || error.errorName !== 'NoSuchResourceException') throw error;
    return call('servicequotas:GetAWSDefaultServiceQuota', (options) =>
      client.send(new GetAWSDefaultServiceQuotaCommand({ ServiceCode, QuotaCode }), options),
    );
  });
  if (Quota?.Value === undefined) throw new Error(`Service Quotas gives no value for ${QuotaCode}.`);
  return Quota.Value;
}

/** Removes nothing: what looks unused may be somebody's. */
export const remedyOf = (
  { service, code }: Pick<Quota, 'service' | 'code'>,
  desired: number,
  region: string,
): string =>
  `Release what is not needed, or ask for more: aws service-quotas request-service-quota-increase --service-code ${service} --quota-code ${code} --desired-value ${desired} --region ${region}`;
