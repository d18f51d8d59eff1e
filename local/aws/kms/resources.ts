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
  const key = { arn: keyArn, directory, name: logicalId, keySpec: KeySpec, keyUsage: KeyUsage };
  cleanup.add(services.keys.create(key));
  return { ref: keyId, attributes: { Arn: keyArn, KeyId: keyId } };
}

/**
 * Creates a replica with the id of the primary's ARN, and the material of the primary that the environment had under the
 * same logical id: on this machine the primary's id is not the recorded one.
 */
function createReplica({ logicalId, properties }: ResourceRequest, context: StackContext): LocalResource {
  const { stack, folder, permissions, services, cleanup } = context;
  const { KeyPolicy, PrimaryKeyArn } = properties;
  const keyId: string = PrimaryKeyArn.split('/').at(-1);
  const keyArn = arn(stack, 'kms', `key/${keyId}`);
  permissions.attachToResource(keyArn, KeyPolicy, logicalId);
  cleanup.add(services.keys.share({ arn: keyArn, directory: folder.keysDirectory, name: logicalId }));
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
    const name = keyArn.split('/').at(-1) as string;
    cleanup.add(services.keys.share({ arn: keyArn, directory: folder.keysDirectory, name }));
  }
}

export const kmsResources: ResourceTypes = {
  'AWS::KMS::Key': ['Description EnableKeyRotation KeyPolicy KeySpec KeyUsage MultiRegion Tags', createKey],
  'AWS::KMS::ReplicaKey': ['Description KeyPolicy PendingWindowInDays PrimaryKeyArn Tags', createReplica],
};
