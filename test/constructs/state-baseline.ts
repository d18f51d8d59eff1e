import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { complete, withDirectAccess, withoutSla } from '../support/rows';
import { type Resource, synthesizeEveryStack } from '../support/stacks';

/** Properties whose change means another resource, of the types with state. */
const fixedProperties: Readonly<Record<string, string>> = {
  'AWS::Backup::LogicallyAirGappedBackupVault':
    'BackupVaultName EncryptionKeyArn MaxRetentionDays MinRetentionDays',
  'AWS::EC2::EIP': 'Address Domain PublicIpv4Pool',
  'AWS::KMS::Key': 'KeySpec KeyUsage MultiRegion Origin',
  'AWS::KMS::ReplicaKey': 'PrimaryKeyArn',
  'AWS::RDS::DBCluster': `DBClusterIdentifier DBSubnetGroupName DatabaseName Engine EngineMode GlobalClusterIdentifier KmsKeyId
    MasterUsername RestoreToTime SnapshotIdentifier SourceDBClusterIdentifier StorageEncrypted`,
  'AWS::RDS::GlobalCluster': 'Engine GlobalClusterIdentifier SourceDBClusterIdentifier StorageEncrypted',
  'AWS::SQS::Queue': 'FifoQueue QueueName',
  'AWS::SecretsManager::Secret': 'Name',
};

const isRetained = (policy = 'Delete') => policy !== 'Delete';

/** The retained state of a stack: a line per resource, with its type and the properties that cannot change without replacement. */
export const stateOf = (resources: readonly Resource[]): readonly string[] =>
  resources
    .filter(({ DeletionPolicy, UpdateReplacePolicy }) =>
      [DeletionPolicy, UpdateReplacePolicy].every(isRetained),
    )
    .flatMap(({ logicalId, Type, Properties }) => {
      const fixed = fixedProperties[Type]?.split(/\s+/).map((name) => [name, Properties?.[name]]);
      return fixed ? [`${logicalId} ${Type} ${JSON.stringify(Object.fromEntries(fixed))}`] : [];
    });

/** The state of the stacks of fixed rows, with everything that a row may record; before each line, its environment and its stack. */
export const stateOfApp = (): readonly string[] =>
  Object.entries(synthesizeEveryStack([complete, withDirectAccess, withoutSla])).flatMap(
    ([stackId, { environment, resources }]) =>
      stateOf(resources).map((line) => `${environment.name} ${stackId} ${line}`),
  );

const baselineFile = join(__dirname, '..', 'constructs', 'state-baseline.txt');

export const readBaseline = (): readonly string[] => readFileSync(baselineFile, 'utf8').trim().split('\n');

/** Adds new resources to the baseline, and changes nothing else. */
function addNewState(): void {
  const baseline = readBaseline();
  const resourceOf = (line: string) => line.split(' ', 3).join(' ');
  const known = new Set(baseline.map(resourceOf));
  const added = stateOfApp().filter((line) => !known.has(resourceOf(line)));
  writeFileSync(baselineFile, `${[...baseline, ...added].sort().join('\n')}\n`);
}

if (require.main === module) addNewState();
