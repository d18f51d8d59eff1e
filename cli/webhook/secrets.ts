import { secretLength, secretMessage, secretText } from '../../domain/webhook-secrets';
import { callAws } from '../aws';
import { CommandFailed } from '../failure';
import type { Target } from '../target';

/** Gives one version of a webhook's secret as its receiver gets it: `whsec_…`. */
export type DeriveSecret = (webhookId: string, version: number) => Promise<string>;

/**
 * Derives webhooks' secrets by the region's key, as delivery does: none is stored. Needs `kms:GenerateMac` on output
 * `WebhookSecretsKeyArn`.
 */
export async function openWebhookSecrets(target: Target): Promise<DeriveSecret> {
  const { GenerateMacCommand, KMSClient } = await import('@aws-sdk/client-kms');
  const client = new KMSClient(target.clientSettings('kms'));
  const keyArn = target.output('WebhookSecretsKeyArn');
  return async (webhookId, version) => {
    const message = {
      KeyId: keyArn,
      MacAlgorithm: 'HMAC_SHA_256',
      Message: secretMessage(webhookId, version),
    } as const;
    const { Mac } = await callAws(target, 'kms:GenerateMac', (options) =>
      client.send(new GenerateMacCommand(message), options),
    );
    if (Mac?.length !== secretLength) {
      throw new CommandFailed(
        `${keyArn} made no MAC of ${secretLength} bytes.`,
        'Check the outputs file: WebhookSecretsKeyArn has to be the key of the stack.',
      );
    }
    return secretText(Mac);
  };
}
