/** Types whose state cannot be recreated: what losing it would mean, and what to do instead. */
export const statefulTypes: Readonly<Record<string, string>> = {
  'AWS::EC2::EIP':
    'Webhooks would come from another address than receivers allow. Undo the change. To use another address on purpose: "Keeping the address" in docs/runbook/planned-work.md.',
  'AWS::RDS::DBCluster':
    'Without `database.restoreFrom` in its row the new cluster would be empty: undo the change, or restore as in docs/runbook/emergencies.md#restore-to-a-point-in-time.',
  'AWS::RDS::GlobalCluster':
    'The replica in the other region would be lost. Undo the change, but for a restore: docs/runbook/emergencies.md#restore-to-a-point-in-time.',
  'AWS::Backup::LogicallyAirGappedBackupVault':
    'Its backups stay and cost until they expire: nobody can delete them early. A vault that replaces it begins empty. If this stack needs the old one again: "Adopting a vault" in docs/runbook/planned-work.md.',
  'AWS::KMS::Key':
    'What the key encrypted, signed or derived would be lost with it. Undo the change; to rotate a signing key, add a label beside the old one, and take the old key out of the baseline when its last token has expired.',
  'AWS::KMS::ReplicaKey':
    'The region would be without the key for a week: a deleted replica blocks another one for as long. Undo the change; to take the key out of the stack, adopt it in the row.',
  'AWS::SQS::Queue': 'Messages that wait would stay in the old queue, unread. Undo the change.',
  'AWS::SecretsManager::Secret':
    'The new secret would hold another password than the database. Undo the change.',
};
