import { arn, resourceHash } from '../../assembly/manifest';
import type { EnvironmentFolder } from '../../state/paths';
import type { Permissions } from '../iam/permissions';
import type { LocalResource, ResourceRequest, ResourceTypes, StackIdentity } from '../resource';
import type { Kms } from './kms';

interface Context {
  readonly stack: StackIdentity;
  readonly folder: Pick<EnvironmentFolder, 'keysDirectory'>;
  readonly permissions: Pick<Permissions, 'attachToResource'>;
  readonly services: { readonly keys: Pick<Kms, 'create'> };
}

function createKey({ logicalId, properties }: ResourceRequest, context: Context): LocalResource {
  const { stack, folder, permissions, services } = context;
  const { KeySpec = 'SYMMETRIC_DEFAULT', KeyUsage = 'ENCRYPT_DECRYPT', KeyPolicy } = properties;
  const keyId = resourceHash(stack, logicalId).replace(
    /^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/,
    '$1-$2-4$3-8$4-$5',
  );
  const keyArn = arn(stack, 'kms', `key/${keyId}`);
  permissions.attachToResource(keyArn, KeyPolicy, logicalId);
  const { keysDirectory: directory } = folder;
  services.keys.create({ arn: keyArn, directory, name: logicalId, keySpec: KeySpec, keyUsage: KeyUsage });
  return { ref: keyId, attributes: { Arn: keyArn, KeyId: keyId } };
}

export const kmsResources: ResourceTypes<Context> = {
  'AWS::KMS::Key': ['Description EnableKeyRotation KeyPolicy KeySpec KeyUsage Tags', createKey],
};
