import type { Command } from 'commander';
import { runOperation } from '../operations-function';
import { type CommonOptions, withEnvironment } from '../options';
import { openTarget } from '../target';
import type { Terminal } from '../terminal';
import { webhookOption } from './webhook';

interface DisableOptions extends CommonOptions {
  readonly webhook: string;
}

const help = `
Events that are on their way to it are not delivered, and are not kept: those that it misses are gone.

Examples:
  wallet webhook disable --webhook wh-…
  wallet webhook disable --environment uae --webhook wh-… --json`;

export function register(group: Command, terminal: Terminal): void {
  withEnvironment(group.command('disable'))
    .summary('stop deliveries to a webhook')
    .description('Disables a webhook: nothing is delivered to it until it is enabled, nor tried again.')
    .requiredOption(...webhookOption)
    .addHelpText('after', help)
    .action((options: DisableOptions) => disable(options, terminal));
}

async function disable({ webhook, ...options }: DisableOptions, terminal: Terminal): Promise<void> {
  const target = await openTarget(options);
  const state = await runOperation(target, 'disable-webhook', { webhookId: webhook });
  terminal.result(options.json ? JSON.stringify(state) : `${webhook} is disabled.`);
}
