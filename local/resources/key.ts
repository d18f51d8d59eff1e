import type { AccessControl } from '../iam/access';
import type { Kms } from '../kms/server';
import type { Provision } from './deployment';
import { arn, resourceUuid, type StackIdentity } from './names';

/** `AWS::KMS::Key`: made once, kept in `directory`. */
export function provisionKey(
  stack: StackIdentity,
  directory: string,
  {
    keys,
    access,
  }: { readonly keys: Pick<Kms, 'create'>; readonly access: Pick<AccessControl, 'attachToResource'> },
): Provision {
  return async ({ logicalId, properties }) => {
    const { KeySpec = 'SYMMETRIC_DEFAULT', KeyUsage = 'ENCRYPT_DECRYPT', KeyPolicy } = properties;
    const keyId = resourceUuid(stack, logicalId);
    const keyArn = arn(stack, 'kms', `key/${keyId}`);
    const [keySpec, keyUsage] = [String(KeySpec), String(KeyUsage)];
    if (KeyPolicy !== undefined) access.attachToResource(keyArn, KeyPolicy, logicalId);
    keys.create({ arn: keyArn, directory, name: logicalId, keySpec, keyUsage });
    return { ref: keyId, attributes: { Arn: keyArn, KeyId: keyId } };
  };
}
