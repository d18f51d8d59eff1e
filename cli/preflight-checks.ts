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
  /** `warning`: the deployment may work, and may be the repair. `not asked`: skipped, or AWS did not answer. */
  readonly outcome: 'ok' | 'warning' | 'failed' | 'not asked';
  readonly found: string;
  readonly remedy?: string;
}

export interface Context {
  readonly environment: Environment;
  readonly caller: { readonly account: string; readonly arn: string };
  /** As it would be deployed. */
  readonly stack: AssembledStack;
  readonly zones: readonly string[];
  /** What is deployed under the stack's name; undefined if nothing is. */
  deployed(): Promise<{ readonly status: string; readonly resources: readonly StackResource[] } | undefined>;
}

/** A check reads and never writes. A string is the finding of one that is ok. */
export interface Check {
  readonly id: string;
  readonly title: string;
  ask(context: Context): string | Finding | Promise<string | Finding>;
}

const failed = (found: string, remedy: string): Finding => ({ outcome: 'failed', found, remedy });

/** Once for all stacks. If the first fails, nothing else is asked: the answers of another account would mislead. */
export const accountChecks: readonly Check[] = [
  {
    id: 'account',
    title: 'account',
    ask({ environment, caller: { account, arn }, stack }) {
      const expected = stack.account ?? account;
      if (account === expected) return `${account} (${arn})`;
      return failed(
        `the credentials (${arn}) are of ${account}, the account of ${environment.name} is ${expected}`,
        `Sign in to ${expected} and name the profile in AWS_PROFILE, or correct the variable WALLET_…_ACCOUNT.`,
      );
    },
  },
  {
    // Without the role, the first call to RDS can fail. https://github.com/aws-samples/eks-workshop-v2/issues/1609,
    // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/UsingWithRDS.IAM.ServiceLinkedRoles.html
    id: 'rds-service-linked-role',
    title: 'service-linked role of RDS',
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

/** For each stack. If the first fails, nothing else is asked in its region. */
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
      if (status === 'ENABLING') return failed(found, 'Wait: it takes minutes, and in some accounts hours.');
      return failed(found, `Enable it: aws account enable-region --region-name ${region}`);
    },
  },
  {
    id: 'bootstrap',
    title: "CDK's bootstrap stack",
    async ask({ stack: { region, bootstrap }, caller }) {
      const ssm = new SSM(clientSettings(region));
      const remedy = `Bootstrap the region: ${inProject(`npx cdk bootstrap aws://${caller.account}/${region}`)}`;
      const answer = await unlessRefused(/^ParameterNotFound$/, () =>
        ask(ssm, 'getParameter', { Name: bootstrap.parameter }),
      );
      if (!answer) return failed(`${region} has none: no parameter ${bootstrap.parameter}`, remedy);
      const version = answer.Parameter?.Value;
      const found = `version ${version}, at least ${bootstrap.version} is needed`;
      return Number(version) >= bootstrap.version ? found : failed(found, remedy);
    },
  },
  {
    id: 'stack-state',
    title: "stack's state",
    async ask({ stack, deployed }) {
      const { status = undefined } = (await deployed()) ?? {};
      if (status === undefined) return 'there is none yet';
      if (/^(CREATE|UPDATE|UPDATE_ROLLBACK|IMPORT|IMPORT_ROLLBACK)_COMPLETE$/.test(status)) return status;
      const remedy = stateRemedies.find(([pattern]) => pattern.test(status))?.[1] ?? '';
      return failed(status, remedy.replace('STACK', `--stack-name ${stack.name} --region ${stack.region}`));
    },
  },
  {
    // All of the region: with two of three unavailable, the region itself is in doubt (docs/decisions/loss-of-a-region.md).
    id: 'zones',
    title: 'availability zones',
    async ask({ zones, stack: { region }, deployed }) {
      const ec2 = new EC2(clientSettings(region));
      const Filters = [{ Name: 'zone-type', Values: ['availability-zone'] }];
      const { AvailabilityZones = [] } = await ask(ec2, 'describeAvailabilityZones', { Filters });
      const states = new Map(AvailabilityZones.map(({ ZoneName = '', State }) => [ZoneName, State]));
      const known = [...new Set([...zones, ...states.keys()])];
      const available = known.filter((zone) => states.get(zone) === 'available');
      if (available.length === known.length) return `all are available: ${available.join(', ')}`;
      const wrong = known.filter((zone) => !available.includes(zone));
      const found = `${wrong.map((zone) => `${zone} is ${states.get(zone) ?? 'not there'}`).join(', ')}; available: ${available.join(', ') || 'none'}`;
      const isMissing = zones.some((zone) => !states.has(zone));
      if (isMissing && (await deployed()) === undefined)
        return failed(found, 'Name zones that the account has in lib/environments.ts.');
      const remedy =
        'Wait for the zones, unless this deployment is the repair: "A zone is gone" in docs/runbook.md.';
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
        return 'the stack serves no requests';
      const lambda = new Lambda(clientSettings(region));
      const { AccountLimit } = await ask(lambda, 'getAccountSettings', {});
      const { ConcurrentExecutions: all = 0, UnreservedConcurrentExecutions: free = 0 } = AccountLimit ?? {};
      const found = `${free} of ${all} executions unreserved, the throttle's burst is ${throttle.burst}`;
      if (free >= throttle.burst) return found;
      return failed(
        found,
        `Request more, which can take days: aws service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value ${all - free + throttle.burst} --region ${region}`,
      );
    },
  },
  {
    // DescribeDBEngineVersions does not have the Data API; the options of instances have it, as an optional field.
    // https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_OrderableDBInstanceOption.html
    id: 'database-engine',
    title: 'database version, serverless',
    async ask({ stack, zones }) {
      const { Engine, EngineVersion, EnableHttpEndpoint } = clusterProperties(stack);
      const rds = new RDS(clientSettings(stack.region));
      const input = { Engine, EngineVersion, DBInstanceClass: 'db.serverless' };
      // InvalidParameterValue: RDS does not have the version.
      const answer = await unlessRefused(/^InvalidParameter/, () =>
        ask(rds, 'describeOrderableDBInstanceOptions', input),
      );
      const offers = answer?.OrderableDBInstanceOptions ?? [];
      const names = offers.flatMap(({ AvailabilityZones = [] }) => AvailabilityZones.map(({ Name }) => Name));
      const usable = zones.filter((zone) => names.includes(zone));
      const version = `${Engine} ${EngineVersion}, db.serverless`;
      if (usable.length === 0)
        return failed(
          `${version} is offered in none of ${zones.join(', ')}`,
          `Choose another databaseVersion in lib/database/cluster.ts: aws rds describe-orderable-db-instance-options --engine ${Engine} --db-instance-class db.serverless --query "OrderableDBInstanceOptions[].EngineVersion" --region ${stack.region}`,
        );
      const support = offers.map(({ SupportsHttpEndpoint }) => SupportsHttpEndpoint);
      if (EnableHttpEndpoint === true && support.includes(false) && !support.includes(true))
        return failed(
          `${version} has no RDS Data API in ${stack.region}`,
          'Give the environment databaseAccess "direct" in lib/environments.ts, or choose another databaseVersion in lib/database/cluster.ts.',
        );
      return `${version}: ${usable.join(', ')}`;
    },
  },
  {
    // RDS does not go back to an older version.
    id: 'database-running',
    title: 'database version that runs',
    async ask({ stack, deployed }) {
      const cluster = (await deployed())?.resources.find(({ type }) => type === clusterType);
      if (cluster === undefined) return 'none runs yet';
      const runs = (await describeCluster(stack.region, cluster.physicalId))?.EngineVersion ?? '';
      const planned: string = clusterProperties(stack).EngineVersion;
      const found = `${runs} runs, the template has ${planned}`;
      if (runs.localeCompare(planned, 'en', { numeric: true }) <= 0) return found;
      return failed(
        found,
        `Put ${runs} into databaseVersion in lib/database/cluster.ts: RDS does not downgrade.`,
      );
    },
  },
  {
    id: 'restore',
    title: 'where the database is restored from',
    async ask({ stack, deployed }) {
      const properties = clusterProperties(stack);
      const { SnapshotIdentifier, SourceDBClusterIdentifier, RestoreToTime, EngineVersion } = properties;
      if (!SnapshotIdentifier && !SourceDBClusterIdentifier) return 'the row names nothing';
      // The identifier ends with a hash of the source: lib/environment.ts.
      const suffix = properties.DBClusterIdentifier['Fn::Join'][1].at(-1);
      const cluster = (await deployed())?.resources.find(({ type }) => type === clusterType);
      if (cluster?.physicalId.endsWith(suffix)) return `${cluster.physicalId} is restored already`;
      const { found, version, remedy } = SnapshotIdentifier
        ? await readSnapshot(stack.region, SnapshotIdentifier)
        : await readBackups(stack.region, SourceDBClusterIdentifier, RestoreToTime);
      if (remedy) return failed(found, remedy);
      // A restore to a point in time begins at the source's version.
      if (version === EngineVersion) return `${found}, version ${version}`;
      return failed(
        `${found}, but is of version ${version}; the template has ${EngineVersion}`,
        `Put ${version} into databaseVersion in lib/database/cluster.ts for this deployment, and upgrade afterwards.`,
      );
    },
  },
  {
    id: 'adopted-address',
    title: 'adopted Elastic IPs',
    async ask({ environment: { stackId, adoptedElasticIp, webhookOrigin }, stack, deployed }) {
      const adopted = { adoptedElasticIp, 'webhookOrigin.adoptedReserve': webhookOrigin?.adoptedReserve };
      const found: string[] = [];
      // The standby adopts none.
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
            `Look for the address: aws ec2 describe-addresses --filters Name=public-ip,Values=${address} ${region}`,
          );
        if (current.PublicIp !== address)
          return failed(
            `${allocationId} is ${current.PublicIp}, the environment has ${address}`,
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
            `Free it: "Keeping the address" in docs/runbook.md; what holds it: aws ec2 describe-network-interfaces --filters Name=association.allocation-id,Values=${allocationId} ${region}`,
          );
      }
      return found.length > 0
        ? `${found.join(', ')}: free, or on the stack's own gateway`
        : 'the stack adopts none';
    },
  },
];

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/view-stack-events.html */
const stateRemedies: readonly (readonly [RegExp, string])[] = [
  [
    /^REVIEW_IN_PROGRESS$/,
    'Remove its change set, which was never executed: aws cloudformation delete-stack STACK',
  ],
  [/_IN_PROGRESS$/, 'Wait until CloudFormation has finished.'],
  [/^(CREATE|ROLLBACK)_/, 'See "Recovering from a failed first deployment" in docs/runbook.md.'],
  [/^DELETE_FAILED$/, 'See "Deleting a stack with an SLA" in docs/runbook.md.'],
  [/^UPDATE_ROLLBACK_FAILED$/, 'Remove the cause, then: aws cloudformation continue-update-rollback STACK'],
  [/^UPDATE_FAILED$/, 'Undo the failed update: aws cloudformation rollback-stack STACK'],
];

const clusterType = 'AWS::RDS::DBCluster';

/** As it would be deployed. */
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
  /** If the database cannot be restored from it. */
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
  return { found, remedy: `Wait until it is available, or name another: ${list}` };
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
      found: `${region} has no cluster ${identifier} with backups`,
      remedy: `Name another: aws rds describe-db-clusters --region ${region}`,
    };
  const found = `${identifier} can be restored from ${earliest.toISOString()} to ${latest.toISOString()}`;
  const wanted = new Date(time);
  if (earliest <= wanted && wanted <= latest) return { found, version };
  const remedy = 'Give a time between them; for an earlier one, restore a snapshot.';
  return { found: `${found}, the row has ${time}`, remedy };
}
