import { CfnDeletionPolicy, CfnResource } from 'aws-cdk-lib';
import type { CfnDBCluster } from 'aws-cdk-lib/aws-rds';
import type { Construct } from 'constructs';
import { acknowledge } from '../checks/acknowledgements/acknowledge';
import type { DatabaseSize } from '../environment';

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
 *
 * @param scope what the cluster and everything of its own is below
 */
export function restoreData(scope: Construct, cluster: CfnDBCluster, { restoreFrom }: DatabaseSize): void {
  if (restoreFrom === undefined) return;
  if ('snapshot' in restoreFrom) {
    cluster.snapshotIdentifier = restoreFrom.snapshot;
  } else {
    cluster.sourceDbClusterIdentifier = restoreFrom.cluster;
    cluster.restoreToTime = restoreFrom.time;
    acknowledge(
      cluster,
      ['CloudFormation-Validate::W3689'],
      'The handler sets the password after the restore, and compares the encryption with the source.',
    );
  }
  takeNamesFromData(cluster);
  for (const { cfnResourceType, cfnOptions } of scope.node.findAll().filter(CfnResource.isCfnResource)) {
    if (kept.includes(cfnResourceType)) cfnOptions.updateReplacePolicy = CfnDeletionPolicy.RETAIN;
  }
}

/** What a restore replaces stays, in every environment. RDS would make a missing log group again, without retention. */
const kept = ['AWS::RDS::DBCluster', 'AWS::RDS::DBInstance', 'AWS::Logs::LogGroup'];

/**
 * A cluster's owner and database came with its data. CloudFormation refuses them for it, or would have to replace it to give
 * them to it.
 */
export function takeNamesFromData(cluster: CfnDBCluster): void {
  for (const property of ['MasterUsername', 'DatabaseName']) cluster.addPropertyDeletionOverride(property);
  acknowledge(
    cluster,
    ['CloudFormation-Validate::F3021'],
    'A password without a user name is right: the owner came with the data, and gets the password of its secret.',
  );
}
