import type { Command } from 'commander';
import { runOperation } from '../operations-function';
import { withEnvironment } from '../options';
import { openTarget } from '../target';
import type { Terminal } from '../terminal';
import { type WebhookOptions, webhookOption } from './webhook';

const commands = {
  disable: {
    summary: 'stop deliveries to a webhook',
    description: 'Disables a webhook: nothing is delivered to it until it is enabled, nor tried again.',
    help: 'Events that are on their way to it are not delivered, and are not kept: those that it misses are gone.',
  },
  enable: {
    summary: 'deliver to a webhook again',
    description: 'Enables a webhook that was disabled, by an operator or because its receiver answered 410.',
    help: 'It gets what happens from now on. Deliveries that were given up before are sent again by "wallet redeliver".',
  },
} as const;

export function register(group: Command, terminal: Terminal): void {
  for (const [name, { summary, description, help }] of Object.entries(commands)) {
    withEnvironment(group.command(name))
      .summary(summary)
      .description(description)
      .requiredOption(...webhookOption)
      .addHelpText(
        'after',
        `
${help}

Examples:
  wallet webhook ${name} --webhook wh-…
  wallet webhook ${name} --environment uae --webhook wh-… --json`,
      )
      .action(async ({ webhook, ...options }: WebhookOptions) => {
        const target = await openTarget(options, terminal);
        const state = await runOperation(target, `${name}-webhook`, { webhookId: webhook });
        terminal.result(options.json ? JSON.stringify(state) : `${webhook} is ${name}d.`);
      });
  }
}
