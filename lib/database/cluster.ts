import { Duration, RemovalPolicy, Token } from 'aws-cdk-lib';
import type * as ec2 from 'aws-cdk-lib/aws-ec2';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey, Key } from 'aws-cdk-lib/aws-kms';
import * as rds from 'aws-cdk-lib/aws-rds';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { DatabaseRole } from '../../lambda/database/environment';
import { acknowledgeClients, acknowledgeCluster } from '../checks/acknowledgements/database';
import type { Environment } from '../environment';
import { ClosedSecurityGroup } from '../network/closed-security-group';
import { withStableLogicalId } from '../stable-logical-id';
import { DatabaseFoundation, databaseEngine, databasePort, databaseSubnets } from './foundation';
import { instancesOf, joinGlobalDatabase } from './global-database';
import { databaseName, databaseOwner } from './names';
import { restoreData } from './restore';
import { excludedCharacters } from './secrets';

export interface DatabaseClusterProps {
  readonly environment: Environment;
  readonly vpc: ec2.IVpc;
}

/** Aurora PostgreSQL, serverless, in the isolated subnets, encrypted with its own key. */
export class DatabaseCluster extends Construct {
  readonly arn: string;
  readonly host: string;
  readonly port: string;
  /** Encrypts the storage, its backups, and the secrets of its users. */
  readonly key: Key;
  readonly keyOfSecrets: IKey;
  readonly masterSecret: ISecret;
  readonly identifier: string;
  readonly subnets = databaseSubnets;
  private readonly cluster: rds.DatabaseCluster;
  private readonly vpc: ec2.IVpc;

  constructor(scope: Construct, id: string, { environment, vpc }: DatabaseClusterProps) {
    super(scope, id);
    const { capacity, pauseAfterMinutes, backupRetentionDays, deletionProtection } = environment.database;
    this.vpc = vpc;
    const foundation = new DatabaseFoundation(this, 'Foundation', {
      environment,
      vpc,
      removalPolicy: deletionProtection ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    this.key = foundation.key;
    this.keyOfSecrets = foundation.keyOfSecrets;
    this.cluster = new rds.DatabaseCluster(this, 'Cluster', {
      clusterIdentifier: foundation.clusterIdentifier,
      engine: databaseEngine,
      port: databasePort,
      vpc,
      vpcSubnets: this.subnets,
      subnetGroup: foundation.subnetGroup,
      securityGroups: [foundation.securityGroup],
      defaultDatabaseName: databaseName,
      credentials: rds.Credentials.fromGeneratedSecret(databaseOwner, {
        encryptionKey: foundation.keyOfSecrets,
        excludeCharacters: excludedCharacters,
      }),
      serverlessV2MinCapacity: capacity.minimum,
      serverlessV2MaxCapacity: capacity.maximum,
      ...(pauseAfterMinutes !== undefined && {
        serverlessV2AutoPauseDuration: Duration.minutes(pauseAfterMinutes),
      }),
      ...instances(environment, this.key),
      storageEncryptionKey: this.key,
      ...insights(environment, this.key),
      parameterGroup: foundation.parameterGroup,
      enableDataApi: environment.databaseAccess === 'data-api',
      iamAuthentication: environment.databaseAccess === 'direct',
      backup: { retention: Duration.days(backupRetentionDays) },
      deletionProtection,
      removalPolicy: deletionProtection ? RemovalPolicy.RETAIN : RemovalPolicy.SNAPSHOT,
      cloudwatchLogsExports: foundation.exportedLogs,
    });
    withStableLogicalId(this.cluster, 'DatabaseCluster');
    for (const instance of instancesOf(this.cluster))
      withStableLogicalId(instance, `Database${instance.node.id}`);
    this.cluster.node.defaultChild?.node.addDependency(...foundation.logGroups);
    this.masterSecret = withStableLogicalId(
      this.cluster.node.findChild('Secret') as ISecret,
      'DatabaseMasterSecret',
    );
    this.masterSecret.applyRemovalPolicy(deletionProtection ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY);
    joinGlobalDatabase(this.cluster, environment);
    restoreData(this, this.cluster.node.defaultChild as rds.CfnDBCluster, environment.database);
    acknowledgeCluster(this.cluster, environment);
    this.identifier = this.cluster.clusterIdentifier;
    this.arn = this.cluster.clusterArn;
    this.host = this.cluster.clusterEndpoint.hostname;
    this.port = Token.asString(this.cluster.clusterEndpoint.port);
  }

  /** @returns a security group whose members may connect to the database, and by this membership to nothing else */
  admitClients(): ec2.ISecurityGroup {
    const clients = new ClosedSecurityGroup(this, 'Clients', {
      vpc: this.vpc,
      description: 'Functions that connect to the database',
    });
    this.cluster.connections.allowDefaultPortFrom(clients, 'PostgreSQL');
    acknowledgeClients(this.cluster);
    return clients;
  }

  /** Lets a function sign in with IAM tokens, as this role only. */
  grantConnect(grantee: IGrantable, role: DatabaseRole): void {
    this.cluster.grantConnect(grantee, role);
  }
}

/**
 * A week of insights costs nothing. A cluster that pauses has little to look at.
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/USER_DatabaseInsights.TurningOnStandard.html
 */
function insights({ database }: Environment, key: Key) {
  return database.capacity.minimum > 0
    ? { enablePerformanceInsights: true, performanceInsightEncryptionKey: key }
    : {};
}

/** The writer in the first zone, readers in the others by turns. */
function instances(environment: Environment, key: Key): Pick<rds.DatabaseClusterProps, 'writer' | 'readers'> {
  const place = (index: number) => ({
    availabilityZone: environment.zones[index % environment.zones.length] ?? '',
    // The template says which version runs: docs/decisions/database-versions.md
    autoMinorVersionUpgrade: false,
    ...insights(environment, key),
  });
  return {
    writer: rds.ClusterInstance.serverlessV2('Writer', place(0)),
    readers: Array.from({ length: environment.database.readers }, (_, index) =>
      // Kept as large as the writer, so that it can take over at once.
      rds.ClusterInstance.serverlessV2(`Reader${index + 1}`, { ...place(index + 1), scaleWithWriter: true }),
    ),
  };
}
