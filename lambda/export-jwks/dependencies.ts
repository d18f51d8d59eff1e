import { GetPublicKeyCommand, KMSClient } from '@aws-sdk/client-kms';
import { createLog } from '../shared/log';

export function createDependencies() {
  const kms = new KMSClient({
    maxAttempts: 5,
    requestHandler: { connectionTimeout: 3_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
  });
  return {
    log: createLog('export-jwks'),
    /** DER SubjectPublicKeyInfo. */
    async getPublicKey(arn: string): Promise<Uint8Array> {
      const { PublicKey } = await kms.send(new GetPublicKeyCommand({ KeyId: arn }));
      if (!PublicKey) throw new Error('KMS answered without a public key.');
      return PublicKey;
    },
  };
}

export type Dependencies = ReturnType<typeof createDependencies>;
