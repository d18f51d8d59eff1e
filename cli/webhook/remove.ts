import type { Command } from 'commander';
import { runOperation } from '../operations-function';
import { withEnvironment } from '../options';
import { allowProduction, requireProductionAllowed } from '../production-guard';
import { openTarget } from '../target';
import type { Terminal } from '../terminal';
import { type WebhookOptions, webhookOption } from './webhook';

interface RemoveOptions extends WebhookOptions {
  readonly allowProduction?: boolean;
}

const help = `
It cannot be undone: one that is added later has another id and another secret. Deliveries on their way to it are dropped.
"wallet webhook disable" stops them for a while.

Examples:
  wallet webhook remove --webhook wh-…
  wallet webhook remove --environment uae --webhook wh-… --allow-production --json`;

export function register(group: Command, terminal: Terminal): void {
  withEnvironment(group.command('remove'))
    .summary('remove a webhook for good')
    .description(
      'Removes a webhook for good, with its secret. What was recorded of its deliveries stays for 31 days.',
    )
    .requiredOption(...webhookOption)
    .addOption(allowProduction())
    .addHelpText('after', help)
    .action(async ({ webhook: webhookId, ...options }: RemoveOptions) => {
      const target = await openTarget(options, terminal);
      requireProductionAllowed(target, options, 'a webhook that is removed cannot be brought back');
      const removed = await runOperation(target, 'remove-webhook', { webhookId });
      terminal.result(options.json ? JSON.stringify(removed) : `${webhookId} is removed.`);
    });
}
