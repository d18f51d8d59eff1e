import { ArnFormat, CfnDeletionPolicy, CfnResource, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { type ISecurityGroup, type IVpc, Port } from 'aws-cdk-lib/aws-ec2';
import { type IGrantable, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey, Key } from 'aws-cdk-lib/aws-kms';
import { CfnDBCluster, type CfnDBClusterProps, CfnDBInstance, CfnGlobalCluster } from 'aws-cdk-lib/aws-rds';
import { CfnSecretTargetAttachment, type ISecret, Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { DatabaseRole } from '../../lambda/database/environment';
import {
  acknowledge,
  acknowledgeInstance,
  acknowledgeNoRotation,
  acknowledgeServingCluster,
} from '../checks/acknowledgements';
import type { Environment, RestoreSource, Standby } from '../environment';
import { ClosedSecurityGroup } from '../network/closed-security-group';
import { withStableLogicalId } from '../stable-logical-id';
import { DatabaseFoundation, databaseEngine, databasePort, databaseVersion } from './foundation';
import { excludedCharacters } from './secrets';

/** Names inside of every cluster. One that began as a replica or is restored has them from its data: its template has none. */
export const databaseName = 'wallet';
const databaseOwner = 'wallet_owner';

export interface DatabaseClusterProps {
  /** As it serves, or would serve from the standby's region. */
  readonly environment: Environment;
  readonly vpc: IVpc;
  /** What it follows, and how many instances it has meanwhile. @default - it serves */
  readonly standby?: Pick<Standby, 'globalClusterIdentifier' | 'instances'>;
}

/**
 * Aurora PostgreSQL, serverless, in the isolated subnets, encrypted with its own key. It serves, or is the secondary of a global
 * database: a cluster whose storage follows the primary's, without instances until it is about to be promoted.
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-global-database-attach.console.headless.html
 */
export class DatabaseCluster extends Construct {
  readonly arn: string;
  readonly identifier: string;
  readonly host: string;
  readonly port: string;
  /** Encrypts the storage, its backups, and the secrets of its users. */
  readonly key: Key;
  readonly keyOfSecrets: IKey;
  /** The owner's. @default - a replica has none */
  readonly masterSecret: ISecret | undefined;
  private readonly cluster: CfnDBCluster;
  private readonly foundation: DatabaseFoundation;
  private readonly vpc: IVpc;

  constructor(scope: Construct, id: string, props: DatabaseClusterProps) {
    super(scope, id);
    const { environment, vpc, standby } = props;
    const { capacity, backupRetentionDays, deletionProtection, restoreFrom } = environment.database;
    this.vpc = vpc;
    // A replica's data is in the primary. Once promoted, the policies of a region that serves hold.
    const removalPolicy = !standby && deletionProtection ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY;
    this.foundation = new DatabaseFoundation(this, 'Foundation', { environment, vpc, removalPolicy });
    const { clusterIdentifier, key, subnetGroup, securityGroup, parameterGroup } = this.foundation;
    this.key = key;
    this.keyOfSecrets = this.foundation.keyOfSecrets;
    this.masterSecret = standby ? undefined : this.createMasterSecret(environment);
    const globalClusterIdentifier = standby?.globalClusterIdentifier ?? environment.database.replicaOf;
    this.cluster = withStableLogicalId(
      new CfnDBCluster(this, 'Cluster', {
        ...(globalClusterIdentifier !== undefined && { globalClusterIdentifier }),
        ...(standby ? { enableGlobalWriteForwarding: false } : this.serving(environment)),
        dbClusterIdentifier: clusterIdentifier,
        engine: databaseEngine.engineType,
        engineVersion: databaseVersion.auroraPostgresFullVersion,
        port: databasePort,
        dbSubnetGroupName: subnetGroup.subnetGroupName,
        vpcSecurityGroupIds: [securityGroup.securityGroupId],
        dbClusterParameterGroupName: parameterGroup.bindToCluster({}).parameterGroupName,
        storageEncrypted: true,
        kmsKeyId: key.keyArn,
        serverlessV2ScalingConfiguration: {
          minCapacity: capacity.minimum,
          maxCapacity: capacity.maximum,
          ...(!standby && pause(environment)),
        },
        enableCloudwatchLogsExports: this.foundation.exportedLogs,
        backupRetentionPeriod: backupRetentionDays,
        copyTagsToSnapshot: true,
        deletionProtection,
      }),
      'DatabaseCluster',
    );
    this.cluster.node.addDependency(...this.foundation.logGroups);
    this.cluster.applyRemovalPolicy(
      standby || removalPolicy === RemovalPolicy.RETAIN ? removalPolicy : RemovalPolicy.SNAPSHOT,
    );
    this.identifier = this.cluster.ref;
    this.arn = Stack.of(this).formatArn({
      service: 'rds',
      resource: 'cluster',
      resourceName: this.identifier,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    this.host = this.cluster.attrEndpointAddress;
    this.port = this.cluster.attrEndpointPort;
    const instances = this.createInstances(props, removalPolicy);
    if (standby) {
      acknowledge(
        this.cluster,
        ['AwsSolutions-RDS6'],
        'Nobody can connect: it has no instance and admits no security group. Promoted, it has the ways in of a region that serves.',
      );
      return;
    }
    if (this.masterSecret) {
      new CfnSecretTargetAttachment(this, 'MasterSecretAttachment', {
        secretId: this.masterSecret.secretArn,
        targetId: this.cluster.ref,
        targetType: 'AWS::RDS::DBCluster',
      });
    }
    acknowledgeServingCluster(this.cluster, environment);
    this.createGlobalDatabase(environment, instances);
    if (globalClusterIdentifier !== undefined || restoreFrom) {
      acknowledge(
        this.cluster,
        ['CloudFormation-Validate::F3021'],
        'A password without a user name is right: the owner came with the data, and gets the password of its secret.',
      );
    }
    if (restoreFrom) this.restore(restoreFrom);
  }

  /** @returns a security group whose members may connect to the database, and by this membership to nothing else */
  admitClients(): ISecurityGroup {
    const clients = new ClosedSecurityGroup(this, 'Clients', {
      vpc: this.vpc,
      description: 'Functions that connect to the database',
    });
    clients.connections.allowTo(this.foundation.securityGroup, Port.tcp(databasePort), 'PostgreSQL');
    return clients;
  }

  /** Lets a function sign in with IAM tokens, as this role only. */
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

  private serving({ databaseAccess, database }: Environment): CfnDBClusterProps {
    // RDS refuses names that differ from those of the data, and CloudFormation would replace the cluster to give it any.
    const isNew = database.replicaOf === undefined && database.restoreFrom === undefined;
    return {
      ...(isNew && { masterUsername: databaseOwner, databaseName }),
      masterUserPassword: this.masterSecret?.secretValueFromJson('password').unsafeUnwrap() ?? '',
      enableHttpEndpoint: databaseAccess === 'data-api',
      enableIamDatabaseAuthentication: databaseAccess === 'direct',
      // A week of insights costs nothing. A cluster that pauses has little to look at.
      // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/USER_DatabaseInsights.TurningOnStandard.html
      ...(database.capacity.minimum > 0 && {
        performanceInsightsEnabled: true,
        performanceInsightsRetentionPeriod: 7,
        performanceInsightsKmsKeyId: this.key.keyArn,
      }),
    };
  }

  private createMasterSecret({ database }: Environment): ISecret {
    const secret = withStableLogicalId(
      new Secret(this, 'MasterSecret', {
        description: 'Password of the owner of the database',
        encryptionKey: this.keyOfSecrets,
        generateSecretString: {
          secretStringTemplate: JSON.stringify({ username: databaseOwner }),
          generateStringKey: 'password',
          passwordLength: 30,
          excludeCharacters: excludedCharacters,
        },
        removalPolicy: database.deletionProtection ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
      }),
      'DatabaseMasterSecret',
    );
    acknowledgeNoRotation(
      secret,
      'It is 30 random characters that only the schema migration may read, during a deployment.',
    );
    // The CDK's class and interface disagree under `exactOptionalPropertyTypes`.
    return secret as ISecret;
  }

  /** The writer in the first zone, readers in the others by turns. A promoted cluster keeps its instances. */
  private createInstances(
    { environment, standby }: DatabaseClusterProps,
    removalPolicy: RemovalPolicy,
  ): readonly CfnDBInstance[] {
    const { zones, database } = environment;
    const count = standby ? (standby.instances ?? 0) : 1 + database.readers;
    const instances = Array.from({ length: count }, (_, index) => {
      const name = index === 0 ? 'Writer' : `Reader${index}`;
      const instance = new CfnDBInstance(this, name, {
        dbClusterIdentifier: this.cluster.ref,
        engine: databaseEngine.engineType,
        dbInstanceClass: 'db.serverless',
        availabilityZone: zones[index % zones.length] ?? '',
        // A reader of tier 1 is kept as large as the writer, so that it can take over at once.
        promotionTier: Math.min(index, 1),
        publiclyAccessible: false,
        // The template says which version runs: docs/decisions/database-versions.md
        autoMinorVersionUpgrade: false,
        ...(database.capacity.minimum > 0 && {
          enablePerformanceInsights: true,
          performanceInsightsRetentionPeriod: 7,
          performanceInsightsKmsKeyId: this.key.keyArn,
        }),
      });
      instance.applyRemovalPolicy(removalPolicy);
      acknowledgeInstance(instance, environment);
      return withStableLogicalId(instance, `Database${name}`);
    });
    const [writer, ...readers] = instances;
    for (const reader of readers) reader.addResourceDependency(writer as CfnDBInstance);
    return instances;
  }

  /** Makes the cluster the primary of a global database, which the standby's replica joins. */
  private createGlobalDatabase(
    { standby, database }: Environment,
    instances: readonly CfnDBInstance[],
  ): void {
    if (!standby) return;
    const globalCluster = new CfnGlobalCluster(this, 'GlobalCluster', {
      globalClusterIdentifier: standby.globalClusterIdentifier,
      // Not the other way round, by the cluster's `GlobalClusterIdentifier`: a cluster that exists cannot get one.
      // https://github.com/aws-cloudformation/aws-cloudformation-resource-providers-rds (ImmutabilityHelper of DBCluster)
      sourceDbClusterIdentifier: this.arn,
      deletionProtection: database.deletionProtection,
    });
    withStableLogicalId(globalCluster, 'DatabaseGlobalCluster');
    globalCluster.applyRemovalPolicy(RemovalPolicy.RETAIN);
    // A primary needs its writer before it can be copied from.
    for (const instance of instances) globalCluster.addResourceDependency(instance);
  }

  /**
   * Makes CloudFormation restore a cluster's data from a snapshot, or from a cluster's backups to a moment. These properties
   * replace the cluster when they change, and removed they replace it by an empty one
   * (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-rds-dbcluster.html and
   * `createOnlyProperties` in
   * https://github.com/aws-cloudformation/aws-cloudformation-resource-providers-rds/blob/master/aws-rds-dbcluster/aws-rds-dbcluster.json).
   *
   * Neither way of restoring takes the owner's password, the Data API, IAM authentication, the retention of backups or (to a
   * moment) the parameter group and the protection: the handler sets them right afterwards, before the cluster counts as made
   * (`modifyDbClusterAfterCreateRequest` in
   * https://github.com/aws-cloudformation/aws-cloudformation-resource-providers-rds/blob/master/aws-rds-dbcluster/src/main/java/software/amazon/rds/dbcluster/Translator.java).
   * `StorageEncrypted` stays: the handler compares it with the source and does not send it (`validateStorageEncryption` in
   * `CreateHandler.java` beside it). Without a `RestoreType` it is a full copy, the only type that takes a moment
   * (https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_RestoreDBClusterToPointInTime.html).
   */
  private restore({ snapshot, cluster, time }: RestoreSource): void {
    if (snapshot) {
      this.cluster.snapshotIdentifier = snapshot;
    } else {
      this.cluster.sourceDbClusterIdentifier = cluster;
      this.cluster.restoreToTime = time;
      acknowledge(
        this.cluster,
        ['CloudFormation-Validate::W3689'],
        'The handler sets the password after the restore, and compares the encryption with the source.',
      );
    }
    for (const { cfnResourceType, cfnOptions } of this.node.findAll().filter(CfnResource.isCfnResource)) {
      // What a restore replaces stays, in every environment. RDS would make a missing log group again, without retention.
      if (['AWS::RDS::DBCluster', 'AWS::RDS::DBInstance', 'AWS::Logs::LogGroup'].includes(cfnResourceType))
        cfnOptions.updateReplacePolicy = CfnDeletionPolicy.RETAIN;
    }
  }
}

const pause = ({ database: { pauseAfterMinutes } }: Environment) =>
  pauseAfterMinutes === undefined ? {} : { secondsUntilAutoPause: 60 * pauseAfterMinutes };
