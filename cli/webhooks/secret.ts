import { InvalidArgumentError } from 'commander';
import { isEventKind } from '../../domain/event';
import type { Webhook } from '../../domain/operations';
import { readReceiverUrl, urlRefusals } from '../../domain/receiver-url';
import { secretLength, secretMessage, secretText } from '../../domain/signature';
import { ask } from '../shell/aws';
import { CommandFailed, UsageError } from '../shell/failure';
import { runOperation } from '../shell/operations';
import { id } from '../shell/options';
import type { Target } from '../shell/target';

export const webhookOption = ['--webhook <id>', 'the webhook', id('wh')] as const;

export function eventKind(text: string): string {
  if (isEventKind(text)) return text;
  throw new InvalidArgumentError(
    'Give a kind such as wallet.created: 1 to 128 letters, digits, . _ : / or -, starting with a letter or digit.',
  );
}

/** Accepts local URLs; the operations function refuses them in deployed environments. */
export function receiverUrl(text: string): string {
  const url = readReceiverUrl(text, { allowLocal: true });
  if (url.ok) return text;
  const message = urlRefusals[url.error];
  // Commander would print the value.
  throw url.error === 'credentials_in_url' ? new UsageError(message) : new InvalidArgumentError(message);
}

/** @throws CommandFailed if it is disabled, or OperationRefused `webhook_not_found` */
export async function describeEnabledWebhook(target: Target, webhookId: string): Promise<Webhook> {
  const webhook = await runOperation(target, 'describe-webhook', { webhookId });
  if (webhook.enabled) return webhook;
  throw new CommandFailed(
    `${webhookId} is disabled (${webhook.disabledReason}): deliveries to it are dropped.`,
    `Enable it first: ${target.paste(`webhook enable --webhook ${webhookId}`)}`,
  );
}

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
