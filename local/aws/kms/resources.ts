import { arn, LOCAL_ACCOUNT_ID, resourceHash, type Template } from '../../assembly/manifest';
import type { LocalResource, ResourceRequest, ResourceTypes, StackContext } from '../resource';

function createKey({ logicalId, properties }: ResourceRequest, context: StackContext): LocalResource {
  const { stack, folder, permissions, services, cleanup } = context;
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
  cleanup.add(services.keys.create(key));
  return { ref: keyId, attributes: { Arn: keyArn, KeyId: keyId } };
}

/** Creates a replica with the id, and so the material, of its primary. */
function createReplica({ logicalId, properties }: ResourceRequest, context: StackContext): LocalResource {
  const { stack, folder, permissions, services, cleanup } = context;
  const { KeyPolicy, PrimaryKeyArn } = properties;
  const keyId: string = PrimaryKeyArn.split('/').at(-1);
  const keyArn = arn(stack, 'kms', `key/${keyId}`);
  permissions.attachToResource(keyArn, KeyPolicy, logicalId);
  cleanup.add(services.keys.share({ arn: keyArn, directory: folder.keysDirectory, logicalId }));
  return { ref: keyId, attributes: { Arn: keyArn, KeyId: keyId } };
}

/** Opens the existing keys of its region to which a template refers by their ARNs. */
export function adoptKeys(template: Template, context: StackContext): void {
  const { stack, folder, permissions, services, cleanup } = context;
  const pattern = new RegExp(`arn:aws:kms:${stack.region}:\\d{12}:key/mrk-\\w+`, 'g');
  for (const keyArn of new Set(JSON.stringify(template).match(pattern))) {
    const Principal = { AWS: `arn:aws:iam::${LOCAL_ACCOUNT_ID}:root` };
    const Statement = [{ Effect: 'Allow', Action: 'kms:*', Resource: '*', Principal }];
    permissions.attachToResource(keyArn, { Statement }, keyArn);
    cleanup.add(services.keys.share({ arn: keyArn, directory: folder.keysDirectory }));
  }
}

export const kmsResources: ResourceTypes = {
  'AWS::KMS::Key': ['Description EnableKeyRotation KeyPolicy KeySpec KeyUsage MultiRegion Tags', createKey],
  'AWS::KMS::ReplicaKey': ['Description KeyPolicy PendingWindowInDays PrimaryKeyArn Tags', createReplica],
};
