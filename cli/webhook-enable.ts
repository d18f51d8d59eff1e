import type { Command } from 'commander';
import { disabledEvent } from '../domain/event';
import { runOperation } from './operations-function';
import { withEnvironment } from './options';
import { sendMessages } from './queue-messages';
import { openTarget, type Target } from './target';
import type { Terminal } from './terminal';
import { type WebhookOptions, webhookOption } from './webhooks';

const commands = {
  disable: {
    summary: 'stop deliveries to a webhook',
    description: 'Disables a webhook: nothing is delivered to it until it is enabled, nor tried again.',
    help: `Deliveries on their way to it are dropped. "wallet redeliver --webhook ID --since TIME" sends the events of the last 14 days
that it missed. The organization's other webhooks get an event of kind webhook.disabled.`,
    change: disable,
  },
  enable: {
    summary: 'deliver to a webhook again',
    description: 'Enables a webhook that was disabled, by an operator or because its receiver answered 410.',
    help: 'It gets what happens from now on. "wallet redeliver" sends what it missed, and what was given up.',
    change: async (target: Target, webhookId: string) =>
      runOperation(target, 'enable-webhook', { webhookId }),
  },
} as const;

export function register(group: Command, terminal: Terminal): void {
  for (const [name, { summary, description, help, change }] of Object.entries(commands)) {
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
        const state = await change(target, webhook);
        terminal.result(options.json ? JSON.stringify(state) : `${webhook} is ${name}d.`);
      });
  }
}

/** Tells the organization after the change, once. */
async function disable(target: Target, webhookId: string) {
  const { changed, organizationId, ...state } = await runOperation(target, 'disable-webhook', { webhookId });
  if (!changed) return state;
  target.note(`${webhookId} is disabled. Telling ${organizationId} …`);
  const disabledAt = Date.parse(state.disabledAt);
  const { text } = disabledEvent({ webhookId, organizationId, reason: state.disabledReason, disabledAt });
  await sendMessages(target, 'WebhookEventsQueueUrl', [{ body: text, group: organizationId }]);
  return state;
}
