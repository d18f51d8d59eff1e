import { InvalidArgumentError } from 'commander';
import { readReceiverUrl, urlRefusals } from '../../domain/receiver-url';
import { UsedWrongly } from '../failure';
import type { Target } from '../target';

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
