import { Account } from '@aws-sdk/client-account';
import { EC2 } from '@aws-sdk/client-ec2';
import { IAM } from '@aws-sdk/client-iam';
import { Lambda } from '@aws-sdk/client-lambda';
import { RDS } from '@aws-sdk/client-rds';
import { SSM } from '@aws-sdk/client-ssm';
import { type Environment, restoreSuffix } from '../../lib/environments';
import { ask, clientSettings, unlessRefused } from '../shell/aws';
import type { StackResource } from '../shell/deployed-stack';
import { inProject } from '../shell/paste';
import type { AssembledStack } from './assembly';

export interface Finding {
  /** `warning`: the deployment may work, and may be the fix. `not checked`: the call to AWS failed. */
  readonly outcome: 'ok' | 'warning' | 'failed' | 'not checked';
  readonly found: string;
  readonly remedy?: string;
}

export interface Context {
  readonly environment: Environment;
  readonly account: string;
  /** From the assembly. */
  readonly stack: AssembledStack;
  readonly zones: readonly string[];
  /** The deployed stack of that name, if any. */
  readonly deployed: Promise<
    { readonly status: string; readonly resources: readonly StackResource[] } | undefined
  >;
}

/** Read-only. A string is short for a finding with outcome `ok`. */
export interface Check {
  readonly id: string;
  ask(context: Context): Promise<string | Finding>;
}

const failed = (found: string, remedy: string): Finding => ({ outcome: 'failed', found, remedy });

/** Run for each stack of the environment. */
export const checks: readonly Check[] = [
  {
    // https://docs.aws.amazon.com/accounts/latest/reference/API_GetRegionOptStatus.html
    id: 'region',
    async ask({ stack: { region } }) {
      const account = new Account(clientSettings(region));
      const { RegionOptStatus: status = '' } = await ask(account, 'getRegionOptStatus', {
        RegionName: region,
      });
      const found = `${region} is ${status}`;
      if (/^ENABLED/.test(status)) return found;
      return failed(
        found,
        `Enable it, which takes minutes to hours: aws account enable-region --region-name ${region}`,
      );
    },
  },
  {
    // Without the role, the first call to RDS can fail. https://github.com/aws-samples/eks-workshop-v2/issues/1609,
    // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.IAM.ServiceLinkedRoles.html
    id: 'rds-service-linked-role',
    async ask({ stack: { region } }) {
      const iam = new IAM(clientSettings(region));
      const RoleName = 'AWSServiceRoleForRDS';
      const answer = await unlessRefused(/^NoSuchEntity/, () => ask(iam, 'getRole', { RoleName }));
      if (answer) return `${answer.Role?.Arn}`;
      return failed(
        `the account has no ${RoleName}`,
        'Create it: aws iam create-service-linked-role --aws-service-name rds.amazonaws.com',
      );
    },
  },
  {
    id: 'bootstrap',
    async ask({ stack: { region, bootstrap }, account }) {
      const ssm = new SSM(clientSettings(region));
      const answer = await unlessRefused(/^ParameterNotFound$/, () =>
        ask(ssm, 'getParameter', { Name: bootstrap.parameter }),
      );
      const version = answer?.Parameter?.Value;
      const found = `version ${version ?? 'none'}, required: ${bootstrap.version} or later`;
      if (Number(version) >= bootstrap.version) return found;
      return failed(
        found,
        `Bootstrap the region: ${inProject(`npx cdk bootstrap aws://${account}/${region}`)}`,
      );
    },
  },
  {
    id: 'stack-state',
    async ask({ stack, deployed }) {
      const { status = '' } = (await deployed) ?? {};
      if (status === '') return 'not deployed yet';
      const remedy = stateRemedies.find(([pattern]) => pattern.test(status))?.[1];
      return remedy
        ? failed(status, remedy.replace('STACK', `--stack-name ${stack.name} --region ${stack.region}`))
        : status;
    },
  },
  {
    // All zones of the region: if two of three are unavailable, so may be the region (docs/decisions/loss-of-a-region.md).
    id: 'zones',
    async ask({ zones, stack: { region } }) {
      const ec2 = new EC2(clientSettings(region));
      const Filters = [{ Name: 'zone-type', Values: ['availability-zone'] }];
      const { AvailabilityZones = [] } = await ask(ec2, 'describeAvailabilityZones', { Filters });
      const states = new Map(zones.map((zone) => [zone, 'missing']));
      for (const { ZoneName = '', State = '' } of AvailabilityZones) states.set(ZoneName, State);
      const found = [...states].map(([zone, state]) => `${zone} is ${state}`).join(', ');
      if ([...states.values()].every((state) => state === 'available')) return found;
      const remedy =
        'List zones that the account has in lib/environments.ts, and wait for the others, unless this deployment is the fix: "A zone is gone" in docs/runbook.md.';
      return { outcome: 'warning', found, remedy };
    },
  },
  {
    // A new account may have 10 instead of 1,000: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html,
    // https://github.com/aws-samples/aws-secure-environment-accelerator/issues/1002
    id: 'lambda-concurrency',
    async ask({ environment: { throttle }, stack: { region, template } }) {
      if (!Object.values(template.Resources).some(({ Type }) => Type === 'AWS::ApiGateway::Stage'))
        return 'the stack has no API';
      const lambda = new Lambda(clientSettings(region));
      const { AccountLimit } = await ask(lambda, 'getAccountSettings', {});
      const { ConcurrentExecutions: all = 0, UnreservedConcurrentExecutions: free = 0 } = AccountLimit ?? {};
      const found = `${free} of ${all} executions unreserved, the burst limit is ${throttle.burst}`;
      if (free >= throttle.burst) return found;
      return failed(
        found,
        `Request a higher quota, which can take days: aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value ${all - free + throttle.burst} --region ${region}`,
      );
    },
  },
  {
    // DescribeDBEngineVersions omits Data API support; instance options have it, as an optional field.
    // https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_OrderableDBInstanceOption.html
    id: 'database-engine',
    async ask({ stack, zones }) {
      const { Engine, EngineVersion, EnableHttpEndpoint } = clusterProperties(stack);
      const rds = new RDS(clientSettings(stack.region));
      const input = { Engine, EngineVersion, DBInstanceClass: 'db.serverless' };
      // InvalidParameterValue: RDS does not offer the version.
      const answer = await unlessRefused(/^InvalidParameter/, () =>
        ask(rds, 'describeOrderableDBInstanceOptions', input),
      );
      const offered = (answer?.OrderableDBInstanceOptions ?? [])
        .filter(({ SupportsHttpEndpoint }) => !EnableHttpEndpoint || SupportsHttpEndpoint !== false)
        .flatMap(({ AvailabilityZones = [] }) => AvailabilityZones.map(({ Name }) => Name));
      const usable = zones.filter((zone) => offered.includes(zone));
      const version = `${Engine} ${EngineVersion}, db.serverless${EnableHttpEndpoint ? ', with the Data API' : ''}`;
      if (usable.length > 0) return `${version}: ${usable.join(', ')}`;
      return failed(
        `${version} is not available in ${zones.join(', ')}`,
        `Choose another databaseVersion in lib/database/cluster.ts, or databaseAccess "direct": aws rds describe-orderable-db-instance-options --engine ${Engine} --db-instance-class db.serverless --query "OrderableDBInstanceOptions[].[EngineVersion,SupportsHttpEndpoint]" --region ${stack.region}`,
      );
    },
  },
  {
    id: 'database-running',
    async ask({ stack, deployed }) {
      const cluster = (await deployed)?.resources.find(({ type }) => type === clusterType);
      if (cluster === undefined) return 'no database yet';
      const running = (await describeCluster(stack.region, cluster.physicalId))?.EngineVersion ?? '';
      const planned: string = clusterProperties(stack).EngineVersion;
      const found = `${running} runs, the template has ${planned}`;
      if (running.localeCompare(planned, 'en', { numeric: true }) <= 0) return found;
      return failed(
        found,
        `Set databaseVersion in lib/database/cluster.ts to ${running}: RDS cannot downgrade.`,
      );
    },
  },
  {
    id: 'restore',
    async ask({ environment: { stackId, database }, stack, deployed }) {
      const { restoreFrom } = database;
      if (!restoreFrom || stack.name !== stackId) return 'no restore requested';
      const cluster = (await deployed)?.resources.find(({ type }) => type === clusterType);
      if (cluster?.physicalId.endsWith(restoreSuffix(database)))
        return `${cluster.physicalId} is already restored`;
      const { found, version, isUsable } = await readSource(stack.region, restoreFrom);
      if (!isUsable)
        return failed(
          found,
          `Wait, or choose another: aws rds ${restoreFrom.snapshot ? 'describe-db-cluster-snapshots' : 'describe-db-clusters'} --region ${stack.region}`,
        );
      // Point-in-time restore uses the source's version.
      const { EngineVersion } = clusterProperties(stack);
      if (version === EngineVersion) return `${found}, version ${version}`;
      return failed(
        `${found}, but its version is ${version}; the template has ${EngineVersion}`,
        `Set databaseVersion in lib/database/cluster.ts to ${version} for this deployment, and upgrade afterwards.`,
      );
    },
  },
  {
    id: 'adopted-address',
    async ask({ environment: { stackId, adoptedElasticIp, webhookOrigin }, stack, deployed }) {
      // Only the primary stack adopts addresses.
      const adopted = [adoptedElasticIp, webhookOrigin?.adoptedReserve].flatMap((address) =>
        address && stack.name === stackId ? [address] : [],
      );
      if (adopted.length === 0) return 'no adopted addresses';
      const ec2 = new EC2(clientSettings(stack.region));
      const AllocationIds = adopted.map(({ allocationId }) => allocationId);
      const Filters = [{ Name: 'allocation-id', Values: AllocationIds }];
      const { Addresses = [] } = await ask(ec2, 'describeAddresses', { Filters });
      const own = (await deployed)?.resources.find(({ type }) => type === 'AWS::EC2::NatGateway');
      const gateways = own && (await ask(ec2, 'describeNatGateways', { NatGatewayIds: [own.physicalId] }));
      const held = gateways?.NatGateways?.[0]?.NatGatewayAddresses ?? [];
      for (const { allocationId, address } of adopted) {
        const current = Addresses.find(({ AllocationId }) => AllocationId === allocationId);
        if (current?.PublicIp !== address)
          return failed(
            `${allocationId} is ${current?.PublicIp ?? `not in ${stack.region}`}, but the environment expects ${address}`,
            'Correct the address in lib/environments.ts: receivers rely on it.',
          );
        // An Elastic IP cannot be on two gateways.
        if (current.AssociationId && !held.some(({ AllocationId }) => AllocationId === allocationId))
          return failed(
            `${address} (${allocationId}) is on ${current.NetworkInterfaceId}, not on the stack's gateway`,
            'Release it: "Keeping the address" in docs/runbook.md.',
          );
      }
      return `${AllocationIds.join(', ')}: unassociated, or on the stack's gateway`;
    },
  },
];

/**
 * Statuses that block a deployment. `cdk deploy` itself handles the others.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html
 */
const stateRemedies: readonly (readonly [RegExp, string])[] = [
  [
    /^REVIEW_IN_PROGRESS$/,
    'Delete its change set, which was never executed: aws cloudformation delete-stack STACK',
  ],
  [/_IN_PROGRESS$/, 'Wait until CloudFormation has finished.'],
  [/^(CREATE_FAILED|ROLLBACK_)/, 'See "Recovering from a failed first deployment" in docs/runbook.md.'],
  [/^DELETE_FAILED$/, 'See "Deleting a stack with an SLA" in docs/runbook.md.'],
  [/^UPDATE_ROLLBACK_FAILED$/, 'Fix the cause, then: aws cloudformation continue-update-rollback STACK'],
  [/^UPDATE_FAILED$/, 'Undo the failed update: aws cloudformation rollback-stack STACK'],
];

const clusterType = 'AWS::RDS::DBCluster';

/** From the assembly, not the deployed stack. */
const clusterProperties = ({ template }: AssembledStack) =>
  Object.values(template.Resources).find(({ Type }) => Type === clusterType)?.Properties ?? {};

async function describeCluster(region: string, DBClusterIdentifier: string) {
  const rds = new RDS(clientSettings(region));
  const answer = await unlessRefused(/^DBClusterNotFoundFault$/, () =>
    ask(rds, 'describeDBClusters', { DBClusterIdentifier }),
  );
  return answer?.DBClusters?.[0];
}

type RestoreSource = NonNullable<Environment['database']['restoreFrom']>;

async function readSource(region: string, { snapshot, cluster = '', time = '' }: RestoreSource) {
  if (snapshot) {
    const rds = new RDS(clientSettings(region));
    const answer = await unlessRefused(/^DBClusterSnapshotNotFoundFault$/, () =>
      ask(rds, 'describeDBClusterSnapshots', { DBClusterSnapshotIdentifier: snapshot }),
    );
    const { Status = `not in ${region}`, EngineVersion: version } = answer?.DBClusterSnapshots?.[0] ?? {};
    return { found: `${snapshot} is ${Status}`, version, isUsable: Status === 'available' };
  }
  const source = await describeCluster(region, cluster);
  const {
    EarliestRestorableTime: earliest,
    LatestRestorableTime: latest,
    EngineVersion: version,
  } = source ?? {};
  const range = earliest && latest ? `from ${earliest.toISOString()} to ${latest.toISOString()}` : 'never';
  const isUsable = earliest && latest && earliest <= new Date(time) && new Date(time) <= latest;
  return { found: `${cluster} can be restored ${range}, the row has ${time}`, version, isUsable };
}
