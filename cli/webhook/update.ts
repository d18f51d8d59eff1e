import type { Command } from 'commander';
import { UsedWrongly } from '../failure';
import { runOperation } from '../operations-function';
import { withEnvironment } from '../options';
import { allowProduction, requireProductionAllowed } from '../production-guard';
import { openTarget } from '../target';
import type { Terminal } from '../terminal';
import { eventKinds } from './event-kind';
import { receiverUrl, requireReceiverUrl } from './receiver-url';
import { inLines } from './show';
import { type WebhookOptions, webhookOption } from './webhook';

interface UpdateOptions extends WebhookOptions {
  readonly url?: string;
  readonly kinds?: readonly string[];
  readonly allKinds?: boolean;
  readonly allowProduction?: boolean;
}

const help = `
A new URL is for deliveries that are on their way, too. The secret stays: if the new receiver must not share it with the old
one, rotate it twice. A disabled webhook stays disabled.

Examples:
  wallet webhook update --webhook wh-… --url https://hooks.customer.com/wallet/2
  wallet webhook update --webhook wh-… --kinds wallet.created,wallet.deleted
  wallet webhook update --environment uae --webhook wh-… --all-kinds --allow-production --json`;

export function register(group: Command, terminal: Terminal): void {
  withEnvironment(group.command('update'))
    .summary('change where a webhook goes, or which kinds of events it wants')
    .description('Changes the URL of a webhook, the kinds of events that it wants, or both, and prints it.')
    .requiredOption(...webhookOption)
    .option('--url <url>', 'where its deliveries go from now on', receiverUrl)
    .option('--kinds <kinds>', 'the kinds of events it wants from now on, with commas between', eventKinds)
    .option('--all-kinds', 'it wants all kinds of events from now on')
    .addOption(allowProduction())
    .addHelpText('after', help)
    .action((options: UpdateOptions) => update(options, terminal));
}

async function update(options: UpdateOptions, terminal: Terminal): Promise<void> {
  const { webhook: webhookId, url, kinds, allKinds } = options;
  if (url === undefined && !kinds && !allKinds)
    throw new UsedWrongly('There is nothing to change.', 'Give --url, --kinds or --all-kinds.');
  if (kinds && allKinds) throw new UsedWrongly('Give --kinds or --all-kinds, not both.');
  const target = await openTarget(options, terminal);
  if (url !== undefined) requireReceiverUrl(target, '--url', url);
  requireProductionAllowed(target, options, 'other events of the organization go out of it, or elsewhere');
  const change = { webhookId, url, kinds: allKinds ? null : kinds };
  const updated = await runOperation(target, 'update-webhook', change);
  terminal.result(options.json ? JSON.stringify(updated) : inLines(updated));
}
