import type { Command } from 'commander';
import { withEnvironment } from '../options';
import { openTarget } from '../target';
import type { Terminal } from '../terminal';
import { openWebhookSecrets } from './secrets';
import { describeWebhook, type WebhookOptions, webhookOption } from './webhook';

const help = `
Needs lambda:InvokeFunction on OperationsFunctionName and kms:GenerateMac on WebhookSecretsKeyArn.

Examples:
  SECRET=$(wallet webhook secret --webhook wh-…)
  wallet webhook secret --webhook wh-… --json            {"webhookId":"…","secret":"…","secretVersion":1}`;

export function register(group: Command, terminal: Terminal): void {
  withEnvironment(group.command('secret'))
    .summary('print the current secret of a webhook')
    .description('Prints the current secret of a webhook, for a receiver that has lost it.')
    .requiredOption(...webhookOption)
    .addHelpText('after', help)
    .action((options: WebhookOptions) => printSecret(options, terminal));
}

async function printSecret({ webhook, ...options }: WebhookOptions, terminal: Terminal): Promise<void> {
  const target = await openTarget(options, terminal);
  const deriveSecret = await openWebhookSecrets(target);
  const { webhookId, secretVersion } = await describeWebhook(target, webhook);
  const secret = await deriveSecret(webhookId, secretVersion);
  terminal.result(options.json ? JSON.stringify({ webhookId, secret, secretVersion }) : secret);
}
