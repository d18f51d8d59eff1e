import type { Command } from 'commander';
import { runOperation } from '../operations-function';
import { type CommonOptions, withEnvironment } from '../options';
import { openTarget } from '../target';
import type { Terminal } from '../terminal';
import { webhookOption } from './webhook';

interface EnableOptions extends CommonOptions {
  readonly webhook: string;
}

const help = `
It gets what happens from now on. Deliveries that were given up before are sent again by "wallet redeliver".

Examples:
  wallet webhook enable --webhook wh-…
  wallet webhook enable --environment uae --webhook wh-… --json`;

export function register(group: Command, terminal: Terminal): void {
  withEnvironment(group.command('enable'))
    .summary('deliver to a webhook again')
    .description('Enables a webhook that was disabled, by an operator or because its receiver answered 410.')
    .requiredOption(...webhookOption)
    .addHelpText('after', help)
    .action((options: EnableOptions) => enable(options, terminal));
}

async function enable({ webhook, ...options }: EnableOptions, terminal: Terminal): Promise<void> {
  const target = await openTarget(options);
  const state = await runOperation(target, 'enable-webhook', { webhookId: webhook });
  terminal.result(options.json ? JSON.stringify(state) : `${webhook} is enabled.`);
}
