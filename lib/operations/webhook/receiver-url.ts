import { UsedWrongly } from '../failure';
import type { Target } from '../target';

/**
 * Refuses a URL that deliveries can never go to, before anything is made for it. The operations function judges the
 * rest: its name and its port.
 *
 * @param option where the URL was given, such as `--url`
 * @throws UsedWrongly
 */
export function requireReceiverUrl({ local }: Pick<Target, 'local'>, option: string, text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:') return;
  if (local && url?.protocol === 'http:' && ['127.0.0.1', 'localhost'].includes(url.hostname)) return;
  throw new UsedWrongly(
    url ? `${option} ${text} does not begin with https://.` : `${option} ${text || "''"} is not a URL.`,
    local
      ? 'Give one such as https://hooks.customer.com/wallet, or http://127.0.0.1:8010/ for a receiver on this machine.'
      : 'Give one such as https://hooks.customer.com/wallet.',
  );
}
