import { secretLength, secretMessage, secretText } from '../../domain/signature';
import { ask } from '../shell/aws';
import { CommandFailed } from '../shell/failure';
import type { Target } from '../shell/target';

/** Derives a webhook's secret, `whsec_…`, as delivery does. Needs `kms:GenerateMac` on output `WebhookSecretsKeyArn`. */
export async function deriveSecret(target: Target, webhookId: string, version: number): Promise<string> {
  const { KMS } = await import('@aws-sdk/client-kms');
  const client = new KMS(target.clientSettings('kms'));
  const KeyId = target.output('WebhookSecretsKeyArn');
  const Message = secretMessage(webhookId, version);
  const { Mac } = await ask(client, 'generateMac', { KeyId, MacAlgorithm: 'HMAC_SHA_256', Message });
  if (Mac?.length === secretLength) return secretText(Mac);
  throw new CommandFailed(`${KeyId} created no MAC of ${secretLength} bytes.`, 'Check the outputs file.');
}
