import { InvalidArgumentError } from 'commander';
import { isEventKind } from '../domain/event';
import type { Webhook } from '../domain/operations';
import { readReceiverUrl, urlRefusals } from '../domain/receiver-url';
import { secretLength, secretMessage, secretText } from '../domain/webhook-secrets';
import { callAws } from './aws';
import { CommandFailed, UsedWrongly } from './failure';
import { runOperation } from './operations-function';
import { id } from './options';
import type { Target } from './target';

export const webhookOption = ['--webhook <id>', 'the webhook', id('wh')] as const;

export function eventKind(text: string): string {
  if (isEventKind(text)) return text;
  throw new InvalidArgumentError(
    'Give a kind such as wallet.created: 1 to 128 letters, digits or any of . _ : / -, the first a letter or digit.',
  );
}

/** Reads the URL of a receiver. Which ones an environment takes, its operations function decides. */
export function receiverUrl(text: string): string {
  if (URL.canParse(text) && ['https:', 'http:'].includes(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('Give a URL such as https://hooks.customer.com/wallet.');
}

/**
 * Refuses a URL that deliveries can never go to, before anything is made for it.
 *
 * @param option where the URL was given, such as `--receiver-url`
 */
export function requireReceiverUrl({ local }: Pick<Target, 'local'>, option: string, text: string): void {
  const read = readReceiverUrl(text, { allowLocal: local });
  if (!read.ok)
    throw new UsedWrongly(`${option} ${text.replace(/\/\/[^/]*@/, '//…@')}: ${urlRefusals[read.error]}`);
}

/** @throws CommandFailed for a disabled one, or OperationRefused `webhook_not_found` */
export async function describeEnabledWebhook(target: Target, webhookId: string): Promise<Webhook> {
  const webhook = await runOperation(target, 'describe-webhook', { webhookId });
  if (webhook.enabled) return webhook;
  throw new CommandFailed(
    `${webhookId} is disabled (${webhook.disabledReason}): deliveries to it are dropped.`,
    `Enable it first: ${target.paste(`webhook enable --webhook ${webhookId}`)}`,
  );
}

/** Derives webhooks' secrets, `whsec_…`, as delivery does. Needs `kms:GenerateMac` on output `WebhookSecretsKeyArn`. */
export async function openWebhookSecrets(target: Target) {
  const { KMS } = await import('@aws-sdk/client-kms');
  const client = new KMS(target.clientSettings('kms'));
  const KeyId = target.output('WebhookSecretsKeyArn');
  return async (webhookId: string, version: number): Promise<string> => {
    const Message = secretMessage(webhookId, version);
    const { Mac } = await callAws(target, 'kms:GenerateMac', (options) =>
      client.generateMac({ KeyId, MacAlgorithm: 'HMAC_SHA_256', Message }, options),
    );
    if (Mac?.length === secretLength) return secretText(Mac);
    throw new CommandFailed(`${KeyId} made no MAC of ${secretLength} bytes.`, 'Check the outputs file.');
  };
}
