import type { Command } from 'commander';
import type { Webhook } from '../../domain/operations';
import { withEnvironment } from '../options';
import { openTarget } from '../target';
import { columns, type Terminal } from '../terminal';
import { describeWebhook, stateOf, type WebhookOptions, webhookOption } from './webhook';

const help = `
Examples:
  wallet webhook show --webhook wh-…
  wallet webhook show --environment uae --webhook wh-… --json`;

export function register(group: Command, terminal: Terminal): void {
  withEnvironment(group.command('show'))
    .summary('print where a webhook goes, what it wants, and its state')
    .description(
      'Prints a webhook as it is: its organization, URL, kinds of events, state and secret version.',
    )
    .requiredOption(...webhookOption)
    .addHelpText('after', help)
    .action(async ({ webhook, ...options }: WebhookOptions) => {
      const found = await describeWebhook(await openTarget(options, terminal), webhook);
      terminal.result(options.json ? JSON.stringify(found) : inLines(found));
    });
}

/** A line for each property. */
export const inLines = (webhook: Webhook): string =>
  columns([
    ['webhook', webhook.webhookId],
    ['organization', webhook.organizationId],
    ['url', webhook.url],
    ['kinds', webhook.kinds?.join(',') ?? 'all'],
    ['state', `${stateOf(webhook)}${webhook.disabledAt ? `, since ${webhook.disabledAt}` : ''}`],
    ['secret', `version ${webhook.secretVersion}${webhook.rotatedAt ? `, since ${webhook.rotatedAt}` : ''}`],
    ['added', webhook.createdAt],
  ]).join('\n');
