import { InvalidArgumentError } from 'commander';
import { isEventKind } from '../domain/event';
import type { Webhook } from '../domain/operations';
import { readReceiverUrl, urlRefusals } from '../domain/receiver-url';
import { secretLength, secretMessage, secretText } from '../domain/webhook-secrets';
import { callAws } from './aws';
import { CommandFailed, UsedWrongly } from './failure';
import { runOperation } from './operations-function';
import { type CommonOptions, id } from './options';
import type { Target } from './target';

/** Options of the commands that work on one webhook. */
export interface WebhookOptions extends CommonOptions {
  readonly webhook: string;
}

export const webhookOption = ['--webhook <id>', 'the webhook', id('wh')] as const;

/** Reads the kind of an event. */
export function eventKind(text: string): string {
  if (isEventKind(text)) return text;
  throw new InvalidArgumentError(
    'Give a kind such as wallet.created: 1 to 128 letters, digits or any of . _ : / -, the first a letter or digit.',
  );
}

/** Reads the URL of a receiver. */
export function receiverUrl(text: string): string {
  if (URL.canParse(text) && ['https:', 'http:'].includes(new URL(text).protocol)) return text;
  throw new InvalidArgumentError('Give a URL such as https://hooks.customer.com/wallet.');
}

/**
 * Refuses a URL that deliveries can never go to, before anything is made for it.
 *
 * @param option where the URL was given, such as `--url`
 * @throws UsedWrongly
 */
export function requireReceiverUrl({ local }: Pick<Target, 'local'>, option: string, text: string): void {
  const read = readReceiverUrl(text, { allowLocal: local });
  if (read.ok) return;
  throw new UsedWrongly(
    `${option} ${text.replace(/\/\/[^/]*@/, '//…@')}: ${urlRefusals[read.error]}`,
    local
      ? 'Give one such as https://hooks.customer.com/wallet, or http://127.0.0.1:8010/ for a receiver on this machine.'
      : 'Give one such as https://hooks.customer.com/wallet.',
  );
}

export const stateOf = ({ enabled, disabledReason }: Webhook): string =>
  enabled ? 'enabled' : `disabled: ${disabledReason}`;

/** @throws OperationRefused `webhook_not_found` */
export const describeWebhook = (target: Target, webhookId: string): Promise<Webhook> =>
  runOperation(target, 'describe-webhook', { webhookId });

/** @throws CommandFailed for one that is disabled, with the command that enables it */
export function requireEnabled({ webhookId, enabled, disabledReason }: Webhook, target: Target): void {
  if (enabled) return;
  throw new CommandFailed(
    `${webhookId} is disabled (${disabledReason}): what is sent to it is dropped.`,
    `Enable it first: ${target.paste(`webhook enable --webhook ${webhookId}`)}`,
  );
}

/**
 * Derives webhooks' secrets, `whsec_…`, by the region's key, as delivery does: none is stored. Needs `kms:GenerateMac` on
 * output `WebhookSecretsKeyArn`.
 */
export async function openWebhookSecrets(target: Target) {
  const { KMS } = await import('@aws-sdk/client-kms');
  const client = new KMS(target.clientSettings('kms'));
  const keyArn = target.output('WebhookSecretsKeyArn');
  return async (webhookId: string, version: number): Promise<string> => {
    const message = {
      KeyId: keyArn,
      MacAlgorithm: 'HMAC_SHA_256',
      Message: secretMessage(webhookId, version),
    } as const;
    const { Mac } = await callAws(target, 'kms:GenerateMac', (options) =>
      client.generateMac(message, options),
    );
    if (Mac?.length === secretLength) return secretText(Mac);
    throw new CommandFailed(
      `${keyArn} made no MAC of ${secretLength} bytes.`,
      'Check the outputs file: WebhookSecretsKeyArn has to be the key of the stack.',
    );
  };
}
