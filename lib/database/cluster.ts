import { ArnFormat, Aws, CfnDeletionPolicy, CfnResource, Fn, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import * as rds from 'aws-cdk-lib/aws-rds';
import { CfnSecretTargetAttachment, type ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { DatabaseRole } from '../../lambda/database/variables';
import { acknowledge } from '../checks/acknowledgements';
import { type Environment, type RestoreSource, restoreSuffix, type Standby } from '../environment/schema';
import { ClosedSecurityGroup } from '../network/closed-security-group';
import { withStableLogicalId } from '../stable-logical-id';
import { createSecret } from './secrets';

/** The same for both members of a global database: otherwise RDS rejects a promotion. */
export const databaseVersion = rds.AuroraPostgresEngineVersion.VER_17_9;
const engine = rds.DatabaseClusterEngine.auroraPostgres({ version: databaseVersion });
const port = 5432;

export const databaseSubnets: ec2.SubnetSelection = { subnetType: ec2.SubnetType.PRIVATE_ISOLATED };

/** Names in every cluster. Omitted from the template of a promoted or restored one, whose data has them. */
export const databaseName = 'wallet';
const databaseOwner = 'wallet_owner';

export interface DatabaseClusterProps {
  /** For a replica: the environment as served from the standby's region. */
  readonly environment: Environment;
  readonly vpc: ec2.IVpc;
  /** @default - a primary */
  readonly standby?: Pick<Standby, 'globalClusterIdentifier' | 'instances'>;
}

/**
 * Aurora PostgreSQL, serverless, in the isolated subnets, encrypted with its own key: a primary, new or restored, or a replica in a
 * global database, which has storage and no instances until it is about to be promoted. Both have the same logical ids, so that
 * promotion replaces nothing.
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-global-database-attach.console.headless.html
 */
export class DatabaseCluster extends Construct {
  readonly arn: string;
  readonly identifier: string;
  readonly endpoint: { readonly host: string; readonly port: string };
  /** Encrypts the storage, its backups, and the secrets of its users. */
  readonly key: Key;
  /**
   * The same key, for secrets. The CDK would repeat the first statement of the key's policy, including
   * `kms:CreateGrant` without the condition `kms:GrantIsForAWSResource`.
   */
  readonly keyOfSecrets: IKey;
  /** The owner's password. @default - a replica has none */
  readonly masterSecret: ISecret | undefined;
  private readonly cluster: rds.CfnDBCluster;
  private readonly securityGroup: ec2.SecurityGroup;
  private readonly removalPolicy: RemovalPolicy;

  constructor(
    scope: Construct,
    id: string,
    private readonly props: DatabaseClusterProps,
  ) {
    super(scope, id);
    const { environment, vpc, standby } = props;
    const { capacity, backupRetentionDays, pauseAfterMinutes, replicaOf, restoreFrom } = environment.database;
    // A replica's data is also in the primary. RDS refuses to delete a member of a global database; CloudFormation removes it first,
    // but could not roll back the creation of a protected one: docs/decisions/standby.md.
    const isRetained = !standby && environment.database.deletionProtection;
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
    this.keyOfSecrets = Key.fromKeyArn(this, 'KeyOfSecrets', this.key.keyArn);
    this.securityGroup = withStableLogicalId(
      new ClosedSecurityGroup(this, 'SecurityGroup', {
        vpc,
        description: 'Database: admits its clients, reaches nothing',
      }),
      'DatabaseSecurityGroup',
    );
    if (!standby) {
      this.masterSecret = createSecret(this, 'MasterSecret', {
        logicalId: 'DatabaseMasterSecret',
        description: "Password of the database's owner",
        username: databaseOwner,
        passwordLength: 30,
        encryptionKey: this.keyOfSecrets,
        removalPolicy: this.removalPolicy,
      });
    }
    // Known before the cluster exists, because its log groups contain it. The stack's id distinguishes it from a retained cluster.
    const stackUuid = Fn.select(2, Fn.split('/', Aws.STACK_ID));
    const identifier = `wallet-${environment.name}-${Fn.select(0, Fn.split('-', stackUuid))}${restoreSuffix(environment.database)}`;
    const logGroups = this.createLogGroups(identifier);
    const globalClusterIdentifier = standby?.globalClusterIdentifier ?? replicaOf;
    this.cluster = withStableLogicalId(
      new rds.CfnDBCluster(this, 'Cluster', {
        ...(globalClusterIdentifier !== undefined && { globalClusterIdentifier }),
        ...(standby ? { enableGlobalWriteForwarding: false } : this.propertiesOfPrimary()),
        dbClusterIdentifier: identifier,
        engine: engine.engineType,
        engineVersion: databaseVersion.auroraPostgresFullVersion,
        port,
        dbSubnetGroupName: this.createSubnetGroup(),
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
    this.cluster.applyRemovalPolicy(standby || isRetained ? this.removalPolicy : RemovalPolicy.SNAPSHOT);
    this.identifier = this.cluster.ref;
    this.arn = Stack.of(this).formatArn({
      service: 'rds',
      resource: 'cluster',
      resourceName: this.identifier,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    this.endpoint = { host: this.cluster.attrEndpointAddress, port: this.cluster.attrEndpointPort };
    const instances = this.createInstances();
    if (standby) {
      acknowledge(this.cluster, 'clusterWithoutClients');
      acknowledge(this.cluster, 'replica');
      return;
    }
    new CfnSecretTargetAttachment(this, 'MasterSecretAttachment', {
      secretId: this.masterSecret?.secretArn ?? '',
      targetId: this.cluster.ref,
      targetType: 'AWS::RDS::DBCluster',
    });
    acknowledge(
      this.cluster,
      environment.databaseAccess === 'data-api' ? 'clusterWithoutClients' : 'clusterWithMoreLogs',
    );
    if (!environment.database.deletionProtection) acknowledge(this.cluster, 'deletableCluster');
    if (environment.standby) this.createGlobalDatabase(environment.standby, instances);
    if (replicaOf !== undefined || restoreFrom) {
      acknowledge(this.cluster, 'clusterWithData');
    }
    if (restoreFrom) this.restore(restoreFrom);
  }

  /** @returns a security group that allows its members to connect to the database only */
  admitClients(): ec2.ISecurityGroup {
    const clients = new ClosedSecurityGroup(this, 'Clients', {
      vpc: this.props.vpc,
      description: 'Functions that connect to the database',
    });
    clients.connections.allowTo(this.securityGroup, ec2.Port.tcp(port), 'PostgreSQL');
    return clients;
  }

  /** Allows a function to sign in with IAM tokens, as this role only. */
  grantConnect(grantee: IGrantable, role: DatabaseRole): void {
    const user = Stack.of(this).formatArn({
      service: 'rds-db',
      resource: 'dbuser',
      resourceName: `${this.cluster.attrDbClusterResourceId}/${role}`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    grantee.grantPrincipal.addToPrincipalPolicy(
      new PolicyStatement({ actions: ['rds-db:connect'], resources: [user] }),
    );
  }

  private propertiesOfPrimary(): rds.CfnDBClusterProps {
    const { databaseAccess, database } = this.props.environment;
    // RDS rejects names that differ from the data's, and CloudFormation would replace the cluster to add a name.
    const isNew = database.replicaOf === undefined && database.restoreFrom === undefined;
    return {
      ...(isNew && { masterUsername: databaseOwner, databaseName }),
      masterUserPassword: this.masterSecret?.secretValueFromJson('password').unsafeUnwrap() ?? '',
      enableHttpEndpoint: databaseAccess === 'data-api',
      enableIamDatabaseAuthentication: databaseAccess === 'direct',
      ...(this.insights && { performanceInsightsEnabled: true, ...this.insights }),
    };
  }

  /**
   * A week of insights is free. AWS recommends a minimum of 2 capacity units with them: docs/decisions/database-capacity.md
   * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/USER_DatabaseInsights.TurningOnStandard.html
   */
  private get insights() {
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
  private createInstances(): readonly rds.CfnDBInstance[] {
    const { environment, standby } = this.props;
    const { zones, database } = environment;
    const count = standby ? (standby.instances ?? 0) : 1 + database.readers;
    const instances = Array.from({ length: count }, (_, index) => {
      const name = index === 0 ? 'Writer' : `Reader${index}`;
      const instance = new rds.CfnDBInstance(this, name, {
        dbClusterIdentifier: this.cluster.ref,
        engine: engine.engineType,
        dbInstanceClass: 'db.serverless',
        availabilityZone: zones[index % zones.length] ?? '',
        // Aurora scales a reader of tier 1 with the writer, so that it can take over at once.
        promotionTier: Math.min(index, 1),
        publiclyAccessible: false,
        // The template sets the version: docs/decisions/database-versions.md
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

  /** Creates a global database with the cluster as its primary; the standby's replica joins it. */
  private createGlobalDatabase(
    { globalClusterIdentifier }: Standby,
    instances: readonly rds.CfnDBInstance[],
  ): void {
    const globalCluster = new rds.CfnGlobalCluster(this, 'GlobalCluster', {
      globalClusterIdentifier,
      // Not by the cluster's `GlobalClusterIdentifier`, which cannot be added to an existing cluster.
      // https://github.com/aws-cloudformation/aws-cloudformation-resource-providers-rds (ImmutabilityHelper of DBCluster)
      sourceDbClusterIdentifier: this.arn,
      deletionProtection: this.props.environment.database.deletionProtection,
    });
    withStableLogicalId(globalCluster, 'DatabaseGlobalCluster').applyRemovalPolicy(RemovalPolicy.RETAIN);
    // Replication requires the primary's writer.
    for (const instance of instances) globalCluster.addResourceDependency(instance);
  }

  /**
   * Restores the data from a snapshot, or from a cluster's backups to a point in time. A change of these properties replaces the
   * cluster, their removal replaces it with an empty one (`createOnlyProperties` in
   * https://github.com/aws-cloudformation/aws-cloudformation-resource-providers-rds/blob/master/aws-rds-dbcluster/aws-rds-dbcluster.json).
   *
   * A restore accepts no password, access, retention, parameter group or protection: the handler sets them afterwards, before the
   * cluster counts as created (`modifyDbClusterAfterCreateRequest` in `Translator.java` of the same repository). It compares
   * `StorageEncrypted` with the source and does not send it (`validateStorageEncryption` in `CreateHandler.java`). Without a
   * `RestoreType` it is a full copy, the only type that accepts a time
   * (https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_RestoreDBClusterToPointInTime.html).
   */
  private restore({ snapshot, cluster, time }: RestoreSource): void {
    if (snapshot) {
      this.cluster.snapshotIdentifier = snapshot;
    } else {
      this.cluster.sourceDbClusterIdentifier = cluster;
      this.cluster.restoreToTime = time;
      acknowledge(this.cluster, 'clusterRestoredToTime');
    }
    for (const { cfnResourceType, cfnOptions } of this.node.findAll().filter(CfnResource.isCfnResource)) {
      // A replaced cluster is retained in every environment. RDS would recreate a missing log group without retention.
      if (['AWS::RDS::DBCluster', 'AWS::RDS::DBInstance', 'AWS::Logs::LogGroup'].includes(cfnResourceType))
        cfnOptions.updateReplacePolicy = CfnDeletionPolicy.RETAIN;
    }
  }
}
