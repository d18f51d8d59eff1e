import { Aws, Fn, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { Key } from 'aws-cdk-lib/aws-kms';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import * as rds from 'aws-cdk-lib/aws-rds';
import { Construct } from 'constructs';
import { acknowledge } from '../checks/acknowledgements';
import { type Environment, restoreSuffix } from '../environment/schema';
import { ClosedSecurityGroup } from '../network/closed-security-group';
import { withStableLogicalId } from '../stable-logical-id';

/** The same for both members of a global database: otherwise RDS rejects a promotion. */
export const databaseVersion = rds.AuroraPostgresEngineVersion.VER_17_9;
const engine = rds.DatabaseClusterEngine.auroraPostgres({ version: databaseVersion });
export const databasePort = 5432;

export const databaseSubnets: ec2.SubnetSelection = { subnetType: ec2.SubnetType.PRIVATE_ISOLATED };

/** `wallet-NAME-` and a part of the stack's id, which distinguishes it from what an earlier stack retained. At most 37 characters. */
export function uniqueName({ name }: Environment): string {
  const stackUuid = Fn.select(2, Fn.split('/', Aws.STACK_ID));
  return `wallet-${name}-${Fn.select(0, Fn.split('-', stackUuid))}`;
}

export interface DatabaseClusterProps {
  readonly environment: Environment;
  readonly vpc: ec2.IVpc;
}

/** How the modes of a cluster differ, apart from properties that they set on it. */
interface Mode {
  /** Whether RDS protects the cluster, and CloudFormation retains it with all that it uses. */
  readonly isRetained: boolean;
  readonly instances: number;
}

/**
 * Aurora PostgreSQL, serverless, in the isolated subnets, encrypted with its own key: what all modes have in common. A serving cluster
 * is new, restored or promoted (serving-cluster.ts), a standby's is a replica (replica-cluster.ts). All have the same logical ids, so
 * that a promotion replaces nothing.
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-global-database-attach.console.headless.html
 */
export abstract class DatabaseCluster extends Construct {
  readonly arn: string;
  readonly identifier: string;
  readonly subnetGroupName: string;
  /** Encrypts the storage, its backups, and the secrets of its users. */
  readonly key: Key;
  /** The modes set their own properties on it. */
  protected readonly cluster: rds.CfnDBCluster;
  /** The writer, if there are any, then the readers. */
  protected readonly instances: readonly rds.CfnDBInstance[];
  protected readonly securityGroup: ec2.SecurityGroup;
  protected readonly removalPolicy: RemovalPolicy;

  constructor(
    scope: Construct,
    id: string,
    protected readonly props: DatabaseClusterProps,
    { isRetained, instances }: Mode,
  ) {
    super(scope, id);
    const { environment, vpc } = props;
    const { capacity, backupRetentionDays, pauseAfterMinutes } = environment.database;
    this.removalPolicy = isRetained ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
    this.key = withStableLogicalId(
      new Key(this, 'Key', {
        description: `Database of ${environment.name}: storage, backups and secrets`,
        enableKeyRotation: true,
        // A retained cluster is unreadable without its key.
        removalPolicy: isRetained ? RemovalPolicy.RETAIN : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      }),
      'DatabaseKey',
    );
    const description = 'Database: admits its clients, reaches nothing';
    const securityGroup = new ClosedSecurityGroup(this, 'SecurityGroup', { vpc, description });
    this.securityGroup = withStableLogicalId(securityGroup, 'DatabaseSecurityGroup');
    // Known before the cluster exists, because its log groups contain it.
    const identifier = `${uniqueName(environment)}${restoreSuffix(environment.database)}`;
    const logGroups = this.createLogGroups(identifier);
    this.subnetGroupName = this.createSubnetGroup();
    this.cluster = withStableLogicalId(
      new rds.CfnDBCluster(this, 'Cluster', {
        dbClusterIdentifier: identifier,
        engine: engine.engineType,
        engineVersion: databaseVersion.auroraPostgresFullVersion,
        port: databasePort,
        dbSubnetGroupName: this.subnetGroupName,
        vpcSecurityGroupIds: [this.securityGroup.securityGroupId],
        dbClusterParameterGroupName: this.createParameterGroup(),
        storageEncrypted: true,
        kmsKeyId: this.key.keyArn,
        serverlessV2ScalingConfiguration: {
          minCapacity: capacity.minimum,
          maxCapacity: capacity.maximum,
          ...(pauseAfterMinutes !== undefined && { secondsUntilAutoPause: 60 * pauseAfterMinutes }),
        },
        enableCloudwatchLogsExports: Object.keys(logGroups),
        backupRetentionPeriod: backupRetentionDays,
        copyTagsToSnapshot: true,
        deletionProtection: isRetained,
      }),
      'DatabaseCluster',
    );
    this.cluster.node.addDependency(...Object.values(logGroups));
    this.cluster.applyRemovalPolicy(this.removalPolicy);
    this.identifier = this.cluster.ref;
    this.arn = Stack.of(this).formatArn({ service: 'rds', resource: `cluster:${this.identifier}` });
    this.instances = this.createInstances(instances);
  }

  /**
   * A week of insights is free. AWS recommends a minimum of 2 capacity units with them.
   * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/USER_DatabaseInsights.TurningOnStandard.html
   */
  protected get insights() {
    if (this.props.environment.database.capacity.minimum < 2) return undefined;
    return { performanceInsightsRetentionPeriod: 7, performanceInsightsKmsKeyId: this.key.keyArn };
  }

  // RDS cannot delete subnet or parameter groups in use: they have the cluster's removal policy.
  // https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DeleteDBClusterParameterGroup.html
  private createSubnetGroup(): string {
    const { environment, vpc } = this.props;
    const subnetGroup = new rds.SubnetGroup(this, 'Subnets', {
      description: `Isolated subnets for the database of ${environment.name}`,
      vpc,
      vpcSubnets: databaseSubnets,
      removalPolicy: this.removalPolicy,
    });
    return withStableLogicalId(subnetGroup, 'DatabaseSubnets').subnetGroupName;
  }

  private createParameterGroup(): string {
    const parameterGroup = new rds.ParameterGroup(this, 'Parameters', {
      engine,
      description: 'TLS for every connection',
      parameters: { 'rds.force_ssl': '1' },
    });
    const { parameterGroupName } = parameterGroup.bindToCluster({});
    withStableLogicalId(parameterGroup, 'DatabaseParameters').applyRemovalPolicy(this.removalPolicy);
    return parameterGroupName;
  }

  /** RDS would create the log groups itself, without retention: before the cluster, and after a deletion while it still logs. */
  private createLogGroups(clusterIdentifier: string): Record<string, LogGroup> {
    const { databaseAccess, logRetentionDays } = this.props.environment;
    const logs = databaseAccess === 'direct' ? ['postgresql', 'iam-db-auth-error'] : ['postgresql'];
    return Object.fromEntries(
      logs.map((name) => {
        const logicalId = `DatabaseLog${name.replaceAll('-', '')}`;
        const logGroup = new LogGroup(this, logicalId, {
          logGroupName: `/aws/rds/cluster/${clusterIdentifier}/${name}`,
          retention: logRetentionDays,
          removalPolicy: this.removalPolicy,
        });
        return [name, withStableLogicalId(logGroup, logicalId)];
      }),
    );
  }

  /** The writer in the first zone, readers round-robin in the others. A promoted cluster keeps its instances. */
  private createInstances(count: number): readonly rds.CfnDBInstance[] {
    const { zones } = this.props.environment;
    const instances = Array.from({ length: count }, (_, index) => {
      const name = index === 0 ? 'Writer' : `Reader${index}`;
      const instance = new rds.CfnDBInstance(this, name, {
        dbClusterIdentifier: this.cluster.ref,
        engine: engine.engineType,
        dbInstanceClass: 'db.serverless',
        availabilityZone: zones[index % zones.length] as string,
        // Aurora scales a reader of tier 1 with the writer, so that it can take over at once.
        promotionTier: Math.min(index, 1),
        publiclyAccessible: false,
        // The template sets the version: docs/runbook/planned-work.md
        autoMinorVersionUpgrade: false,
        ...(this.insights && { enablePerformanceInsights: true, ...this.insights }),
      });
      instance.applyRemovalPolicy(this.removalPolicy);
      acknowledge(instance, 'databaseInstance');
      return withStableLogicalId(instance, `Database${name}`);
    });
    const [writer, ...readers] = instances;
    for (const reader of readers) reader.addResourceDependency(writer as rds.CfnDBInstance);
    return instances;
  }
}
