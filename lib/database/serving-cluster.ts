import { CfnDeletionPolicy, CfnResource, RemovalPolicy, Stack } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import * as rds from 'aws-cdk-lib/aws-rds';
import { CfnSecretTargetAttachment, type ISecret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import type { DatabaseRole } from '../../lambda/database/variables';
import { acknowledge } from '../checks/acknowledgements';
import type { RestoreSource, Standby } from '../environment/schema';
import type { HandlerFunction } from '../functions/handler-function';
import { ClosedSecurityGroup } from '../network/closed-security-group';
import { withStableLogicalId } from '../stable-logical-id';
import { DatabaseCluster, type DatabaseClusterProps, databasePort } from './cluster';
import { createSecret } from './secrets';

/** Names in every cluster. Omitted from the template of a promoted or restored one, whose data has them. */
export const databaseName = 'wallet';
const databaseOwner = 'wallet_owner';

/**
 * A primary, new, restored or promoted, with its owner's password, its instances and the ways in. With a standby, it starts a global
 * database.
 */
export class ServingCluster extends DatabaseCluster {
  readonly endpoint: { readonly host: string; readonly port: string };
  readonly masterSecret: ISecret;
  /**
   * The same key, for secrets. The CDK would repeat the first statement of the key's policy, including
   * `kms:CreateGrant` without the condition `kms:GrantIsForAWSResource`.
   */
  readonly keyOfSecrets: IKey;

  constructor(scope: Construct, id: string, props: DatabaseClusterProps) {
    const { databaseAccess, database, standby } = props.environment;
    super(scope, id, props, { isRetained: database.deletionProtection, instances: 1 + database.readers });
    this.endpoint = { host: this.cluster.attrEndpointAddress, port: this.cluster.attrEndpointPort };
    this.keyOfSecrets = Key.fromKeyArn(this, 'KeyOfSecrets', this.key.keyArn);
    this.masterSecret = createSecret(this, 'MasterSecret', {
      logicalId: 'DatabaseMasterSecret',
      description: "Password of the database's owner",
      username: databaseOwner,
      passwordLength: 30,
      encryptionKey: this.keyOfSecrets,
      removalPolicy: this.removalPolicy,
    });
    new CfnSecretTargetAttachment(this, 'MasterSecretAttachment', {
      secretId: this.masterSecret.secretArn,
      targetId: this.cluster.ref,
      targetType: 'AWS::RDS::DBCluster',
    });
    Object.assign(this.cluster, {
      masterUserPassword: this.masterSecret.secretValueFromJson('password').unsafeUnwrap(),
      enableHttpEndpoint: databaseAccess === 'data-api',
      enableIamDatabaseAuthentication: databaseAccess === 'direct',
      ...(this.insights && { performanceInsightsEnabled: true, ...this.insights }),
    } satisfies rds.CfnDBClusterProps);
    if (databaseAccess === 'data-api') acknowledge(this.cluster, 'clusterWithoutClients');
    if (!database.deletionProtection) {
      this.cluster.applyRemovalPolicy(RemovalPolicy.SNAPSHOT);
      acknowledge(this.cluster, 'deletableCluster');
    }
    if (standby) this.createGlobalDatabase(standby);
    if (database.restoreFrom) this.restore(database.restoreFrom);
    else if (database.replicaOf) this.cluster.globalClusterIdentifier = database.replicaOf;
    else Object.assign(this.cluster, { masterUsername: databaseOwner, databaseName });
    // RDS rejects names that differ from those in the data, and CloudFormation would replace the cluster to add one.
    if (database.restoreFrom ?? database.replicaOf) acknowledge(this.cluster, 'clusterWithData');
  }

  /** @returns a security group that allows its members to connect to the database only */
  admitClients(): ec2.ISecurityGroup {
    const description = 'Functions that connect to the database';
    const clients = new ClosedSecurityGroup(this, 'Clients', { vpc: this.props.vpc, description });
    clients.connections.allowTo(this.securityGroup, ec2.Port.tcp(databasePort), 'PostgreSQL');
    return clients;
  }

  /** Allows a function to sign in with IAM tokens, as this role only. */
  grantConnect(handler: HandlerFunction, role: DatabaseRole): void {
    const resource = `dbuser:${this.cluster.attrDbClusterResourceId}/${role}`;
    handler.allow(['rds-db:connect'], Stack.of(this).formatArn({ service: 'rds-db', resource }));
  }

  /** Creates a global database with the cluster as its primary; the standby's replica joins it. */
  private createGlobalDatabase({ globalClusterIdentifier }: Standby): void {
    const globalCluster = new rds.CfnGlobalCluster(this, 'GlobalCluster', {
      globalClusterIdentifier,
      // Not by the cluster's `GlobalClusterIdentifier`, which cannot be added to an existing cluster.
      // https://github.com/aws-cloudformation/aws-cloudformation-resource-providers-rds (ImmutabilityHelper of DBCluster)
      sourceDbClusterIdentifier: this.arn,
      deletionProtection: this.props.environment.database.deletionProtection,
    });
    withStableLogicalId(globalCluster, 'DatabaseGlobalCluster').applyRemovalPolicy(RemovalPolicy.RETAIN);
    // Replication requires the primary's writer.
    for (const instance of this.instances) globalCluster.addResourceDependency(instance);
  }

  /**
   * Begins with the data of a snapshot, or of a cluster's backups to a point in time. A change of these properties replaces the
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
      Object.assign(this.cluster, { sourceDbClusterIdentifier: cluster, restoreToTime: time });
      acknowledge(this.cluster, 'clusterRestoredToTime');
    }
    for (const { cfnResourceType, cfnOptions } of this.node.findAll().filter(CfnResource.isCfnResource)) {
      // A replaced cluster is retained in every environment. RDS would recreate a missing log group without retention.
      if (['AWS::RDS::DBCluster', 'AWS::RDS::DBInstance', 'AWS::Logs::LogGroup'].includes(cfnResourceType))
        cfnOptions.updateReplacePolicy = CfnDeletionPolicy.RETAIN;
    }
  }
}
