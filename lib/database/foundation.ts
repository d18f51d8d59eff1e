import { Aws, Fn, RemovalPolicy } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import * as rds from 'aws-cdk-lib/aws-rds';
import { Construct } from 'constructs';
import { type Environment, restoreSuffix } from '../environment';
import { ClosedSecurityGroup } from '../network/closed-security-group';
import { withStableLogicalId } from '../stable-logical-id';

/** Both members of a global database need the same version: a promotion is refused otherwise. */
export const databaseVersion = rds.AuroraPostgresEngineVersion.VER_17_9;
export const databaseEngine = rds.DatabaseClusterEngine.auroraPostgres({ version: databaseVersion });
export const databasePort = 5432;

export const databaseSubnets: ec2.SubnetSelection = { subnetType: ec2.SubnetType.PRIVATE_ISOLATED };

export interface DatabaseFoundationProps {
  readonly environment: Environment;
  readonly vpc: ec2.IVpc;
  /**
   * Of the cluster, and so of what it uses: RDS refuses to delete a parameter group or a subnet group in use, and makes a log
   * group again, without retention, while its cluster goes on logging.
   * https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DeleteDBClusterParameterGroup.html
   */
  readonly removalPolicy: RemovalPolicy;
}

/**
 * What an Aurora cluster stands on, whether it serves or only follows another: its name, key, subnets, security group,
 * parameters and log groups. Their logical ids are those of the standby too, so that its promotion replaces nothing.
 */
export class DatabaseFoundation extends Construct {
  readonly clusterIdentifier: string;
  /** Encrypts the storage, its backups, and the secrets of its users. */
  readonly key: Key;
  /**
   * The same key, for secrets. The CDK would add to the key's policy what its first statement says already, among it
   * `kms:CreateGrant` without the condition `kms:GrantIsForAWSResource`.
   */
  readonly keyOfSecrets: IKey;
  readonly subnetGroup: rds.SubnetGroup;
  readonly securityGroup: ec2.SecurityGroup;
  readonly parameterGroup: rds.ParameterGroup;
  /** Names of the logs that the cluster writes. Their groups have to exist before it does. */
  readonly exportedLogs: string[];
  readonly logGroups: readonly LogGroup[];

  constructor(scope: Construct, id: string, { environment, vpc, removalPolicy }: DatabaseFoundationProps) {
    super(scope, id);
    this.clusterIdentifier = uniqueIdentifier(environment);
    this.key = withStableLogicalId(
      new Key(this, 'Key', {
        description: `Database of ${environment.name}: storage, backups and secrets`,
        enableKeyRotation: true,
        // A cluster that is retained cannot be read without it.
        removalPolicy:
          removalPolicy === RemovalPolicy.RETAIN ? removalPolicy : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      }),
      'DatabaseKey',
    );
    this.keyOfSecrets = Key.fromKeyArn(this, 'KeyOfSecrets', this.key.keyArn);
    this.subnetGroup = withStableLogicalId(
      new rds.SubnetGroup(this, 'Subnets', {
        description: `Isolated subnets for the database of ${environment.name}`,
        vpc,
        vpcSubnets: databaseSubnets,
        removalPolicy,
      }),
      'DatabaseSubnets',
    );
    this.securityGroup = withStableLogicalId(
      new ClosedSecurityGroup(this, 'SecurityGroup', {
        vpc,
        description: 'Database: admits its clients, reaches nothing',
      }),
      'DatabaseSecurityGroup',
    );
    this.parameterGroup = new rds.ParameterGroup(this, 'Parameters', {
      engine: databaseEngine,
      description: 'TLS for every connection',
      parameters: { 'rds.force_ssl': '1' },
    });
    this.parameterGroup.bindToCluster({});
    withStableLogicalId(this.parameterGroup, 'DatabaseParameters').applyRemovalPolicy(removalPolicy);
    this.exportedLogs =
      environment.databaseAccess === 'direct' ? ['postgresql', 'iam-db-auth-error'] : ['postgresql'];
    this.logGroups = this.exportedLogs.map((name) => this.createLogGroup(name, environment, removalPolicy));
  }

  /** RDS would make the log groups itself, and keep their lines for ever. */
  private createLogGroup(
    name: string,
    { logRetentionDays }: Environment,
    removalPolicy: RemovalPolicy,
  ): LogGroup {
    const logicalId = `DatabaseLog${name.replaceAll('-', '')}`;
    return withStableLogicalId(
      new LogGroup(this, logicalId, {
        logGroupName: `/aws/rds/cluster/${this.clusterIdentifier}/${name}`,
        retention: logRetentionDays,
        removalPolicy,
      }),
      logicalId,
    );
  }
}

/**
 * Known before the cluster is made, because its log groups are named after it; told apart by the stack's own id,
 * so that a new stack does not collide with what an older one left behind, and a restored cluster by where its data is from.
 */
function uniqueIdentifier(environment: Environment): string {
  const stackUuid = Fn.select(2, Fn.split('/', Aws.STACK_ID));
  return `wallet-${environment.name}-${Fn.select(0, Fn.split('-', stackUuid))}${restoreSuffix(environment.database)}`;
}
