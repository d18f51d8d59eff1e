import type { IConstruct } from 'constructs';
import type { Environment } from '../../environment';
import { acknowledge } from './acknowledge';
import { acknowledgeZone } from './zones';

/** Acknowledges what the rule packs find on a cluster that serves. */
export function acknowledgeServingCluster(cluster: IConstruct, environment: Environment): void {
  if (environment.databaseAccess === 'data-api') {
    acknowledge(
      cluster,
      ['AwsSolutions-RDS6'],
      'Nobody connects to it: it is reached over the RDS Data API, which signs in with secrets, and no security group is admitted. With IAM authentication there would be one more way to sign in, for nobody.',
    );
  }
  if (!environment.database.deletionProtection) {
    acknowledge(
      cluster,
      ['AwsSolutions-RDS10', 'NIST.800.53.R5-RDSInstanceDeletionProtectionEnabled'],
      'No service level agreement and test funds only. When the stack is deleted, a last snapshot is taken.',
    );
  }
}

/** Acknowledges what the rule packs find on an instance of a cluster. */
export function acknowledgeInstance(instance: IConstruct, { database }: Environment): void {
  acknowledgeZone(instance);
  acknowledge(
    instance,
    ['PCI.DSS.321-RDSAutomaticMinorVersionUpgradeEnabled'],
    'Every environment is upgraded by its template: docs/decisions/database-versions.md. An automatic upgrade leaves the template behind, which CloudFormation then refuses, and has no effect on members of a global database.',
  );
  acknowledge(
    instance,
    ['NIST.800.53.R5-RDSEnhancedMonitoringEnabled'],
    'The instance is serverless: capacity, connections, storage and lag are in CloudWatch every minute. Enhanced monitoring would write into a log group that all databases of the account share, beyond the retention and the key that hold for the logs of this stack.',
  );
  acknowledge(
    instance,
    ['NIST.800.53.R5-RDSInBackupPlan'],
    `The cluster is backed up continuously and can be restored to any second of the last ${database.backupRetentionDays} days. A plan of AWS Backup would keep the same data in the same region a second time; another region is not permitted for it.`,
  );
}

/** Acknowledges that a secret of the database is rotated by an operator, not by a schedule. */
export function acknowledgeNoRotation(secret: IConstruct, exposure: string): void {
  acknowledge(
    secret,
    ['AwsSolutions-SMG4', 'NIST.800.53.R5-SecretsManagerRotationEnabled'],
    `${exposure} Nobody types it and no code of ours keeps it. A schedule needs a function that may change every password, and the API would be refused between the change of the password and that of the secret; so an operator changes it when there is cause: docs/runbook.md#changing-a-database-password`,
  );
}
