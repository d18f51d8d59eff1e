import { Aws, Duration, Fn, RemovalPolicy, Token } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import * as rds from 'aws-cdk-lib/aws-rds';
import type { ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { DatabaseRole } from '../lambda/database/environment';
import { ClosedSecurityGroup } from './closed-security-group';
import { excludedCharacters } from './database-secrets';
import type { Environment } from './environment';
import { withStableLogicalId } from './stable-logical-id';

export const databaseName = 'wallet';

export interface DatabaseClusterProps {
  readonly environment: Environment;
  readonly vpc: ec2.IVpc;
}

/** Aurora PostgreSQL, serverless, in the isolated subnets, encrypted with a key of its own. */
export class DatabaseCluster extends Construct {
  readonly arn: string;
  readonly host: string;
  readonly port: string;
  /** Encrypts the storage, its backups, and the secrets of those who sign in. */
  readonly key: Key;
  readonly masterSecret: ISecret;
  readonly subnets: ec2.SubnetSelection = { subnetType: ec2.SubnetType.PRIVATE_ISOLATED };
  private readonly cluster: rds.DatabaseCluster;
  private readonly vpc: ec2.IVpc;

  constructor(scope: Construct, id: string, { environment, vpc }: DatabaseClusterProps) {
    super(scope, id);
    const { capacity, pauseAfterMinutes, backupRetentionDays, deletionProtection } = environment.database;
    this.vpc = vpc;
    this.key = withStableLogicalId(
      new Key(this, 'Key', {
        description: `Database of ${environment.name}: storage, backups and secrets`,
        enableKeyRotation: true,
        removalPolicy: RemovalPolicy.RETAIN,
      }),
      'DatabaseKey',
    );
    const clusterIdentifier = uniqueIdentifier(environment);
    const exportedLogs =
      environment.databaseAccess === 'direct' ? ['postgresql', 'iam-db-auth-error'] : ['postgresql'];
    const engine = rds.DatabaseClusterEngine.auroraPostgres({
      version: rds.AuroraPostgresEngineVersion.VER_17_9,
    });
    this.cluster = new rds.DatabaseCluster(this, 'Cluster', {
      clusterIdentifier,
      engine,
      vpc,
      vpcSubnets: this.subnets,
      securityGroups: [
        new ClosedSecurityGroup(this, 'SecurityGroup', {
          vpc,
          description: 'Database: admits its clients, reaches nothing',
        }),
      ],
      defaultDatabaseName: databaseName,
      credentials: rds.Credentials.fromGeneratedSecret('wallet_owner', {
        encryptionKey: this.key,
        excludeCharacters: excludedCharacters,
      }),
      serverlessV2MinCapacity: capacity.minimum,
      serverlessV2MaxCapacity: capacity.maximum,
      ...(pauseAfterMinutes !== undefined && {
        serverlessV2AutoPauseDuration: Duration.minutes(pauseAfterMinutes),
      }),
      ...instances(environment, vpc, this.key),
      storageEncryptionKey: this.key,
      ...insights(environment, this.key),
      parameterGroup: new rds.ParameterGroup(this, 'Parameters', {
        engine,
        description: 'TLS for every connection',
        parameters: { 'rds.force_ssl': '1' },
      }),
      enableDataApi: environment.databaseAccess === 'data-api',
      iamAuthentication: environment.databaseAccess === 'direct',
      backup: { retention: Duration.days(backupRetentionDays) },
      deletionProtection,
      removalPolicy: deletionProtection ? RemovalPolicy.RETAIN : RemovalPolicy.SNAPSHOT,
      cloudwatchLogsExports: exportedLogs,
    });
    withStableLogicalId(this.cluster, 'DatabaseCluster');
    this.masterSecret = withStableLogicalId(
      this.cluster.node.findChild('Secret') as ISecret,
      'DatabaseMasterSecret',
    );
    this.masterSecret.applyRemovalPolicy(deletionProtection ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY);
    this.createLogGroups(clusterIdentifier, exportedLogs, environment);
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
    return clients;
  }

  /** Lets a function sign in with IAM tokens, as this role only. */
  grantConnect(grantee: IGrantable, role: DatabaseRole): void {
    this.cluster.grantConnect(grantee, role);
  }

  /** RDS would make the log groups itself, and keep their lines for ever. */
  private createLogGroups(
    clusterIdentifier: string,
    exportedLogs: readonly string[],
    environment: Environment,
  ) {
    for (const name of exportedLogs) {
      const logGroup = new LogGroup(this, `Log-${name}`, {
        logGroupName: `/aws/rds/cluster/${clusterIdentifier}/${name}`,
        retention: environment.logRetentionDays,
        removalPolicy: RemovalPolicy.DESTROY,
      });
      this.cluster.node.defaultChild?.node.addDependency(logGroup);
    }
  }
}

/**
 * Known before the cluster is made, because its log groups are named after it; told apart by the stack's own id,
 * so that a stack that is made anew does not collide with what its predecessor left behind.
 */
function uniqueIdentifier(environment: Environment): string {
  const stackUuid = Fn.select(2, Fn.split('/', Aws.STACK_ID));
  return `wallet-${environment.name}-${Fn.select(0, Fn.split('-', stackUuid))}`;
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
function instances(
  environment: Environment,
  vpc: ec2.IVpc,
  key: Key,
): Pick<rds.DatabaseClusterProps, 'writer' | 'readers'> {
  const place = (index: number) => ({
    availabilityZone: vpc.availabilityZones[index % environment.zones] ?? '',
    autoMinorVersionUpgrade: true,
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
