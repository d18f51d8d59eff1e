import type { Template } from '../../../domain/assembly';
import { arn, LOCAL_ACCOUNT_ID, resourceHash } from '../../assembly/manifest';
import type { Cleanup } from '../../shared/cleanup';
import type { EnvironmentFolder } from '../../state/paths';
import type { Permissions } from '../iam/permissions';
import type { LocalResource, ResourceRequest, ResourceTypes, StackParts } from '../resource';
import type { Kms } from './kms';

export interface KeyNeeds extends StackParts {
  readonly folder: Pick<EnvironmentFolder, 'keysDirectory'>;
  readonly permissions: Pick<Permissions, 'attachToResource'>;
  readonly keys: Pick<Kms, 'create' | 'share'>;
  readonly cleanup: Cleanup;
}

function createKey({ logicalId, properties }: ResourceRequest, needs: KeyNeeds): LocalResource {
  const { stack, folder, permissions, keys, cleanup } = needs;
  const { KeySpec = 'SYMMETRIC_DEFAULT', KeyUsage = 'ENCRYPT_DECRYPT', KeyPolicy, MultiRegion } = properties;
  const hash = resourceHash(stack, logicalId);
  const keyId = MultiRegion
    ? `mrk-${hash.slice(0, 32)}`
    : hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');
  const keyArn = arn(stack, 'kms', `key/${keyId}`);
  permissions.attachToResource(keyArn, KeyPolicy, logicalId);
  const { keysDirectory: directory } = folder;
  const recordedArn = stack.primaryKeyArns[logicalId];
  const key = { arn: keyArn, recordedArn, directory, logicalId, keySpec: KeySpec, keyUsage: KeyUsage };
  cleanup.add(keys.create(key));
  return { ref: keyId, attributes: { Arn: keyArn, KeyId: keyId } };
}

/** Creates a replica with the id, and so the material, of its primary. */
function createReplica({ logicalId, properties }: ResourceRequest, needs: KeyNeeds): LocalResource {
  const { stack, folder, permissions, keys, cleanup } = needs;
  const { KeyPolicy, PrimaryKeyArn } = properties;
  const keyId: string = PrimaryKeyArn.split('/').at(-1);
  const keyArn = arn(stack, 'kms', `key/${keyId}`);
  permissions.attachToResource(keyArn, KeyPolicy, logicalId);
  cleanup.add(keys.share({ arn: keyArn, directory: folder.keysDirectory, logicalId }));
  return { ref: keyId, attributes: { Arn: keyArn, KeyId: keyId } };
}

/** Opens the existing keys of its region to which a template refers by their ARNs. */
export function adoptKeys(template: Template, needs: KeyNeeds): void {
  const { stack, folder, permissions, keys, cleanup } = needs;
  const pattern = new RegExp(`arn:aws:kms:${stack.region}:\\d{12}:key/mrk-\\w+`, 'g');
  for (const keyArn of new Set(JSON.stringify(template).match(pattern))) {
    const Principal = { AWS: `arn:aws:iam::${LOCAL_ACCOUNT_ID}:root` };
    const Statement = [{ Effect: 'Allow', Action: 'kms:*', Resource: '*', Principal }];
    permissions.attachToResource(keyArn, { Statement }, keyArn);
    cleanup.add(keys.share({ arn: keyArn, directory: folder.keysDirectory }));
  }
}

export const kmsResources: ResourceTypes<KeyNeeds> = {
  'AWS::KMS::Key': ['Description EnableKeyRotation KeyPolicy KeySpec KeyUsage MultiRegion Tags', createKey],
  'AWS::KMS::ReplicaKey': ['Description KeyPolicy PendingWindowInDays PrimaryKeyArn Tags', createReplica],
};
