import { isOfProbe } from '../../domain/probe';
import { secretLength, secretMessage, secretText } from '../../domain/signature';
import { callAws } from '../shell/aws';
import type { DeployedEnvironment } from '../shell/deployed-environment';
import { CommandFailed, UsageError } from '../shell/failure';

/** @throws UsageError for the probe's: who knows it can make a delivery that the environment verifies */
export async function deriveSecret(
  target: DeployedEnvironment,
  webhookId: string,
  version: number,
): Promise<string> {
  if (isOfProbe(webhookId))
    throw new UsageError(`${webhookId} is the environment's own probe: nobody needs its secret.`);
  const { KMS } = await import('@aws-sdk/client-kms');
  const client = new KMS(target.clientSettings('kms'));
  const KeyId = target.output('WebhookSecretsKeyArn');
  const Message = secretMessage(webhookId, version);
  const { Mac } = await callAws(client, 'generateMac', { KeyId, MacAlgorithm: 'HMAC_SHA_256', Message });
  if (Mac?.length === secretLength) return secretText(Mac);
  throw new CommandFailed(`${KeyId} created no MAC of ${secretLength} bytes.`, 'Check the outputs file.');
}
