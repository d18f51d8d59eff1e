import { Account } from '@aws-sdk/client-account';
import { EC2 } from '@aws-sdk/client-ec2';
import { IAM } from '@aws-sdk/client-iam';
import { Lambda } from '@aws-sdk/client-lambda';
import { RDS } from '@aws-sdk/client-rds';
import { SSM } from '@aws-sdk/client-ssm';
import type { Environment } from '../lib/environments';
import type { AssembledStack } from './assembly';
import { ask, clientSettings, unlessRefused } from './aws';
import type { StackResource } from './deployed-stack';
import { inProject } from './pasted-command';

export interface Finding {
  /** `warning`: the deployment may work, and may be the fix. `not asked`: skipped, or the call to AWS failed. */
  readonly outcome: 'ok' | 'warning' | 'failed' | 'not asked';
  readonly found: string;
  readonly remedy?: string;
}

export interface Context {
  readonly environment: Environment;
  readonly caller: { readonly account: string; readonly arn: string };
  /** From the assembly. */
  readonly stack: AssembledStack;
  readonly zones: readonly string[];
  /** The deployed stack of that name, if any. */
  deployed(): Promise<{ readonly status: string; readonly resources: readonly StackResource[] } | undefined>;
}

/** Read-only. A string is short for a finding with outcome `ok`. */
export interface Check {
  readonly id: string;
  readonly title: string;
  ask(context: Context): string | Finding | Promise<string | Finding>;
}

const failed = (found: string, remedy: string): Finding => ({ outcome: 'failed', found, remedy });

/** Run once for all stacks. If the first fails, the others are skipped: results from the wrong account mislead. */
export const accountChecks: readonly Check[] = [
  {
    id: 'account',
    title: 'account',
    ask({ environment, caller: { account, arn }, stack }) {
      const expected = stack.account ?? account;
      if (account === expected) return `${account} (${arn})`;
      return failed(
        `the credentials (${arn}) belong to ${account}, but ${environment.name} uses ${expected}`,
        `Sign in to ${expected} and name the profile in AWS_PROFILE, or correct the variable WALLET_…_ACCOUNT.`,
      );
    },
  },
  {
    // Without the role, the first call to RDS can fail. https://github.com/aws-samples/eks-workshop-v2/issues/1609,
    // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.IAM.ServiceLinkedRoles.html
    id: 'rds-service-linked-role',
    title: 'RDS service-linked role',
    async ask({ stack: { region } }) {
      const iam = new IAM(clientSettings(region));
      const answer = await unlessRefused(/^NoSuchEntity/, () =>
        ask(iam, 'getRole', { RoleName: 'AWSServiceRoleForRDS' }),
      );
      if (answer) return `${answer.Role?.Arn}`;
      return failed(
        'the account has no AWSServiceRoleForRDS',
        'Create it: aws iam create-service-linked-role --aws-service-name rds.amazonaws.com',
      );
    },
  },
];

/** Run for each stack. If the first fails, the others are skipped in its region. */
export const stackChecks: readonly Check[] = [
  {
    // https://docs.aws.amazon.com/accounts/latest/reference/API_GetRegionOptStatus.html
    id: 'region',
    title: 'region is enabled',
    async ask({ stack: { region } }) {
      const account = new Account(clientSettings(region));
      const { RegionOptStatus: status } = await ask(account, 'getRegionOptStatus', { RegionName: region });
      const found = `${region} is ${status}`;
      if (status === 'ENABLED' || status === 'ENABLED_BY_DEFAULT') return found;
      if (status === 'ENABLING') return failed(found, 'Wait: this takes minutes to hours.');
      return failed(found, `Enable it: aws account enable-region --region-name ${region}`);
    },
  },
  {
    id: 'bootstrap',
    title: 'CDK bootstrap stack',
    async ask({ stack: { region, bootstrap }, caller }) {
      const ssm = new SSM(clientSettings(region));
      const remedy = `Bootstrap the region: ${inProject(`npx cdk bootstrap aws://${caller.account}/${region}`)}`;
      const answer = await unlessRefused(/^ParameterNotFound$/, () =>
        ask(ssm, 'getParameter', { Name: bootstrap.parameter }),
      );
      if (!answer)
        return failed(`${region} is not bootstrapped: it has no parameter ${bootstrap.parameter}`, remedy);
      const version = answer.Parameter?.Value;
      const found = `version ${version}, required: ${bootstrap.version} or later`;
      return Number(version) >= bootstrap.version ? found : failed(found, remedy);
    },
  },
  {
    id: 'stack-state',
    title: 'stack status',
    async ask({ stack, deployed }) {
      const { status = undefined } = (await deployed()) ?? {};
      if (status === undefined) return 'not deployed yet';
      if (/^(CREATE|UPDATE|UPDATE_ROLLBACK|IMPORT|IMPORT_ROLLBACK)_COMPLETE$/.test(status)) return status;
      const remedy = stateRemedies.find(([pattern]) => pattern.test(status))?.[1] ?? '';
      return failed(status, remedy.replace('STACK', `--stack-name ${stack.name} --region ${stack.region}`));
    },
  },
  {
    // All zones of the region: if two of three are unavailable, so may be the region (docs/decisions/loss-of-a-region.md).
    id: 'zones',
    title: 'availability zones',
    async ask({ zones, stack: { region }, deployed }) {
      const ec2 = new EC2(clientSettings(region));
      const Filters = [{ Name: 'zone-type', Values: ['availability-zone'] }];
      const { AvailabilityZones = [] } = await ask(ec2, 'describeAvailabilityZones', { Filters });
      const states = new Map(AvailabilityZones.map(({ ZoneName = '', State }) => [ZoneName, State]));
      const known = [...new Set([...zones, ...states.keys()])];
      const available = known.filter((zone) => states.get(zone) === 'available');
      if (available.length === known.length) return `all available: ${available.join(', ')}`;
      const wrong = known.filter((zone) => !available.includes(zone));
      const found = `${wrong.map((zone) => `${zone} is ${states.get(zone) ?? 'missing'}`).join(', ')}; available: ${available.join(', ') || 'none'}`;
      const isMissing = zones.some((zone) => !states.has(zone));
      if (isMissing && (await deployed()) === undefined)
        return failed(found, 'In lib/environments.ts, list zones that the account has.');
      const remedy =
        'Wait for the zones, unless this deployment is the fix: "A zone is gone" in docs/runbook.md.';
      return { outcome: 'warning', found, remedy };
    },
  },
  {
    // A new account may have 10 instead of 1,000: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html,
    // https://github.com/aws-samples/aws-secure-environment-accelerator/issues/1002
    id: 'lambda-concurrency',
    title: 'quota: Lambda concurrency',
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
    title: 'database version available',
    async ask({ stack, zones }) {
      const { Engine, EngineVersion, EnableHttpEndpoint } = clusterProperties(stack);
      const rds = new RDS(clientSettings(stack.region));
      const input = { Engine, EngineVersion, DBInstanceClass: 'db.serverless' };
      // InvalidParameterValue: RDS does not offer the version.
      const answer = await unlessRefused(/^InvalidParameter/, () =>
        ask(rds, 'describeOrderableDBInstanceOptions', input),
      );
      const offers = answer?.OrderableDBInstanceOptions ?? [];
      const names = offers.flatMap(({ AvailabilityZones = [] }) => AvailabilityZones.map(({ Name }) => Name));
      const usable = zones.filter((zone) => names.includes(zone));
      const version = `${Engine} ${EngineVersion}, db.serverless`;
      if (usable.length === 0)
        return failed(
          `${version} is not available in ${zones.join(', ')}`,
          `Choose another databaseVersion in lib/database/cluster.ts: aws rds describe-orderable-db-instance-options --engine ${Engine} --db-instance-class db.serverless --query "OrderableDBInstanceOptions[].EngineVersion" --region ${stack.region}`,
        );
      const support = offers.map(({ SupportsHttpEndpoint }) => SupportsHttpEndpoint);
      if (EnableHttpEndpoint === true && support.includes(false) && !support.includes(true))
        return failed(
          `${version} does not support the RDS Data API in ${stack.region}`,
          'Set databaseAccess to "direct" in lib/environments.ts, or choose another databaseVersion in lib/database/cluster.ts.',
        );
      return `${version}: ${usable.join(', ')}`;
    },
  },
  {
    id: 'database-running',
    title: 'running database version',
    async ask({ stack, deployed }) {
      const cluster = (await deployed())?.resources.find(({ type }) => type === clusterType);
      if (cluster === undefined) return 'no database yet';
      const runs = (await describeCluster(stack.region, cluster.physicalId))?.EngineVersion ?? '';
      const planned: string = clusterProperties(stack).EngineVersion;
      const found = `${runs} runs, the template has ${planned}`;
      if (runs.localeCompare(planned, 'en', { numeric: true }) <= 0) return found;
      return failed(
        found,
        `Set databaseVersion in lib/database/cluster.ts to ${runs}: RDS cannot downgrade.`,
      );
    },
  },
  {
    id: 'restore',
    title: 'restore source',
    async ask({ stack, deployed }) {
      const properties = clusterProperties(stack);
      const { SnapshotIdentifier, SourceDBClusterIdentifier, RestoreToTime, EngineVersion } = properties;
      if (!SnapshotIdentifier && !SourceDBClusterIdentifier) return 'no restore requested';
      // The identifier ends with a hash of the source: lib/environment.ts.
      const suffix = properties.DBClusterIdentifier['Fn::Join'][1].at(-1);
      const cluster = (await deployed())?.resources.find(({ type }) => type === clusterType);
      if (cluster?.physicalId.endsWith(suffix)) return `${cluster.physicalId} is already restored`;
      const { found, version, remedy } = SnapshotIdentifier
        ? await readSnapshot(stack.region, SnapshotIdentifier)
        : await readBackups(stack.region, SourceDBClusterIdentifier, RestoreToTime);
      if (remedy) return failed(found, remedy);
      // Point-in-time restore uses the source's version.
      if (version === EngineVersion) return `${found}, version ${version}`;
      return failed(
        `${found}, but its version is ${version}; the template has ${EngineVersion}`,
        `Set databaseVersion in lib/database/cluster.ts to ${version} for this deployment, and upgrade afterwards.`,
      );
    },
  },
  {
    id: 'adopted-address',
    title: 'adopted Elastic IPs',
    async ask({ environment: { stackId, adoptedElasticIp, webhookOrigin }, stack, deployed }) {
      const adopted = { adoptedElasticIp, 'webhookOrigin.adoptedReserve': webhookOrigin?.adoptedReserve };
      const found: string[] = [];
      // Only the primary stack adopts addresses.
      for (const [property, elasticIp] of Object.entries(stack.name === stackId ? adopted : {})) {
        if (!elasticIp) continue;
        const { allocationId, address } = elasticIp;
        const ec2 = new EC2(clientSettings(stack.region));
        const region = `--region ${stack.region}`;
        const Filters = [{ Name: 'allocation-id', Values: [allocationId] }];
        const { Addresses: [current] = [] } = await ask(ec2, 'describeAddresses', { Filters });
        if (!current)
          return failed(
            `the account has no ${allocationId} in ${stack.region}`,
            `Find the address: aws ec2 describe-addresses --filters Name=public-ip,Values=${address} ${region}`,
          );
        if (current.PublicIp !== address)
          return failed(
            `${allocationId} is ${current.PublicIp}, but the environment expects ${address}`,
            `Correct ${property} in lib/environments.ts: receivers rely on the address.`,
          );
        found.push(`${address} (${allocationId})`);
        if (!current.AssociationId) continue;
        // An Elastic IP cannot be on two gateways.
        const own = (await deployed())?.resources.find(({ type }) => type === 'AWS::EC2::NatGateway');
        const gateways = own && (await ask(ec2, 'describeNatGateways', { NatGatewayIds: [own.physicalId] }));
        const held = gateways?.NatGateways?.[0]?.NatGatewayAddresses ?? [];
        if (!held.some(({ AllocationId }) => AllocationId === allocationId))
          return failed(
            `${address} (${allocationId}) is on ${current.NetworkInterfaceId}, not on the stack's gateway`,
            `Release it: "Keeping the address" in docs/runbook.md. To find its owner: aws ec2 describe-network-interfaces --filters Name=association.allocation-id,Values=${allocationId} ${region}`,
          );
      }
      return found.length > 0
        ? `${found.join(', ')}: unassociated, or on the stack's gateway`
        : 'no adopted addresses';
    },
  },
];

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html */
const stateRemedies: readonly (readonly [RegExp, string])[] = [
  [
    /^REVIEW_IN_PROGRESS$/,
    'Delete the stack, whose change set was never executed: aws cloudformation delete-stack STACK',
  ],
  [/_IN_PROGRESS$/, 'Wait until CloudFormation has finished.'],
  [/^(CREATE|ROLLBACK)_/, 'See "Recovering from a failed first deployment" in docs/runbook.md.'],
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

interface RestoreSource {
  readonly found: string;
  readonly version?: string | undefined;
  /** Present if this source cannot be used. */
  readonly remedy?: string | undefined;
}

async function readSnapshot(region: string, arn: string): Promise<RestoreSource> {
  const rds = new RDS(clientSettings(region));
  const answer = await unlessRefused(/^DBClusterSnapshotNotFoundFault$/, () =>
    ask(rds, 'describeDBClusterSnapshots', { DBClusterSnapshotIdentifier: arn }),
  );
  const { Status, EngineVersion: version } = answer?.DBClusterSnapshots?.[0] ?? {};
  const found = `${arn} is ${Status ?? `not in ${region}`}`;
  if (Status === 'available') return { found, version };
  const list = `aws rds describe-db-cluster-snapshots --region ${region}`;
  return { found, remedy: `Wait until it is available, or choose another: ${list}` };
}

async function readBackups(region: string, identifier: string, time: string): Promise<RestoreSource> {
  const cluster = await describeCluster(region, identifier);
  const {
    EarliestRestorableTime: earliest,
    LatestRestorableTime: latest,
    EngineVersion: version,
  } = cluster ?? {};
  if (!earliest || !latest)
    return {
      found: `${region} has no backups of cluster ${identifier}`,
      remedy: `Choose another: aws rds describe-db-clusters --region ${region}`,
    };
  const found = `${identifier} can be restored from ${earliest.toISOString()} to ${latest.toISOString()}`;
  const wanted = new Date(time);
  if (earliest <= wanted && wanted <= latest) return { found, version };
  const remedy = 'Choose a time in this range, or restore a snapshot.';
  return { found: `${found}, but the row has ${time}`, remedy };
}
