import { InvalidArgumentError } from 'commander';
import { isEventId, isEventKind } from '../../domain/event';
import { isOfProbe } from '../../domain/probe';
import { newUrlRefusals, normalizeReceiverUrl } from '../../domain/receiver-url';
import { UsageError } from '../shell/failure';
import { id } from '../shell/options';

export const webhookOption = ['--webhook <id>', 'the webhook', id('wh')] as const;

/** Refuses the probe's id: what a command sent there would count as a proof of the environment's own deliveries. */
export const customers = (prefix: 'or' | 'wh') => (text: string) => {
  if (!isOfProbe(id(prefix)(text))) return text;
  throw new InvalidArgumentError("Give a customer's, not that of the environment's own probe.");
};

export const customersWebhookOption = ['--webhook <id>', 'the webhook', customers('wh')] as const;

export function eventKind(text: string): string {
  if (isEventKind(text)) return text;
  throw new InvalidArgumentError(
    'Give a kind such as wallet.created: 1 to 128 letters, digits, . _ : / or -, starting with a letter or digit.',
  );
}

/** The URL as it will be requested. Accepts local ones; the operations function refuses them in deployed environments. */
export function receiverUrl(text: string): string {
  const url = normalizeReceiverUrl(text, { allowLocal: true });
  if (url.ok) return url.value;
  const message = newUrlRefusals[url.error];
  // Commander would print the value.
  throw url.error === 'credentials_in_url' ? new UsageError(message) : new InvalidArgumentError(message);
}

export function eventId(text: string): string {
  if (isEventId(text)) return text;
  throw new InvalidArgumentError('Give 1 to 64 letters, digits, - or _, starting with a letter or digit.');
}
