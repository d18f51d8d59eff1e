import type { Provision } from '../template/stack-deployment';
import { arn, type StackIdentity, uuidOf } from './names';

/** Where an environment's keys are used. */
export interface KeyStore {
  create(key: {
    readonly arn: string;
    readonly directory: string;
    readonly name: string;
    readonly keySpec: string;
    readonly keyUsage: string;
  }): void;
}

/** `AWS::KMS::Key`: made once, kept in `directory`. */
export function provisionKey(identity: StackIdentity, directory: string, store: KeyStore): Provision {
  return async ({ logicalId, properties }) => {
    const { KeySpec = 'SYMMETRIC_DEFAULT', KeyUsage = 'ENCRYPT_DECRYPT' } = properties([
      'KeySpec',
      'KeyUsage',
    ]) as Record<string, string>;
    const keyId = uuidOf(identity, logicalId);
    const keyArn = arn(identity, 'kms', `key/${keyId}`);
    store.create({ arn: keyArn, directory, name: logicalId, keySpec: KeySpec, keyUsage: KeyUsage });
    return { ref: keyId, attributes: { Arn: keyArn, KeyId: keyId } };
  };
}
