interface StatefulType {
  /** Properties, of those that a template of ours may set, whose change means replacement or is refused. */
  readonly fixed: readonly string[];
  /** The effect of a replacement, and what to do instead. */
  readonly remedy: string;
}

/**
 * Types whose state cannot be recreated.
 *
 * Source of the properties: "Update requires: Replacement" on each type's page at
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/, and `createOnlyProperties` and
 * `conditionalCreateOnlyProperties` of its resource schema.
 */
export const statefulTypes: Readonly<Record<string, StatefulType>> = {
  'AWS::EC2::EIP': {
    fixed: ['Address', 'Domain', 'PublicIpv4Pool'],
    remedy:
      'Webhooks would come from another address than receivers allow. Undo the change. To use another address on purpose: "Keeping the address" in docs/runbook/planned-work.md.',
  },
  'AWS::RDS::DBCluster': {
    fixed: [
      'DBClusterIdentifier',
      'DBSubnetGroupName',
      'DatabaseName',
      'Engine',
      'EngineMode',
      'GlobalClusterIdentifier',
      'KmsKeyId',
      'MasterUsername',
      'RestoreToTime',
      'SnapshotIdentifier',
      'SourceDBClusterIdentifier',
      'StorageEncrypted',
    ],
    remedy:
      'Without `database.restoreFrom` in its row the new cluster would be empty: undo the change, or restore as in docs/runbook/emergencies.md#restore-to-a-point-in-time.',
  },
  'AWS::RDS::GlobalCluster': {
    fixed: ['Engine', 'GlobalClusterIdentifier', 'SourceDBClusterIdentifier', 'StorageEncrypted'],
    remedy:
      'The replica in the other region would be lost. Undo the change, but for a restore: docs/runbook/emergencies.md#restore-to-a-point-in-time.',
  },
  'AWS::Backup::LogicallyAirGappedBackupVault': {
    fixed: ['BackupVaultName', 'EncryptionKeyArn', 'MaxRetentionDays', 'MinRetentionDays'],
    remedy:
      'Its backups stay and cost until they expire: nobody can delete them early. A vault that replaces it begins empty. If this stack needs the old one again: "Adopting a vault" in docs/runbook/planned-work.md.',
  },
  'AWS::KMS::Key': {
    // https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-kms-key.html
    fixed: ['KeySpec', 'KeyUsage', 'MultiRegion', 'Origin'],
    remedy:
      'What the key encrypted, signed or derived would be lost with it. Undo the change; to rotate a signing key, add a label beside the old one, and take the old key out of the baseline when its last token has expired.',
  },
  'AWS::KMS::ReplicaKey': {
    fixed: ['PrimaryKeyArn'],
    remedy:
      'The region would be without the key for a week: a deleted replica blocks another one for as long. Undo the change; to take the key out of the stack, adopt it in the row.',
  },
  'AWS::SQS::Queue': {
    fixed: ['FifoQueue', 'QueueName'],
    remedy: 'Messages that wait would stay in the old queue, unread. Undo the change.',
  },
  'AWS::SecretsManager::Secret': {
    fixed: ['Name'],
    remedy: 'The new secret would hold another password than the database. Undo the change.',
  },
};
