import { join } from 'node:path';
import type { Cleanup } from '../../../local/cleanup';
import { startKms } from '../../support/local-services';
import { region } from './region';

const arnOf = (id: string) => `arn:aws:kms:${region}:000000000000:key/00000000-0000-4000-8000-${id}`;

/** The key of webhook secrets, and one that signs tokens. */
export const webhookSecretsKeyArn = arnOf('000000000001');
export const signingKeyArn = arnOf('000000000002');

/** Starts a KMS with both keys and gives its URL. */
export async function startKeys(cleanup: Cleanup, directory: string): Promise<string> {
  const kms = await startKms();
  cleanup.add(kms.close);
  const folder = join(directory, 'keys');
  kms.create({
    arn: webhookSecretsKeyArn,
    directory: folder,
    name: 'WebhookSecretsKey',
    keySpec: 'HMAC_256',
    keyUsage: 'GENERATE_VERIFY_MAC',
  });
  kms.create({
    arn: signingKeyArn,
    directory: folder,
    name: 'SigningKey',
    keySpec: 'ECC_NIST_P256',
    keyUsage: 'SIGN_VERIFY',
  });
  return kms.url;
}
