import type { Command } from 'commander';
import { type CommonOptions, withEnvironment } from '../options';
import { openTarget } from '../target';
import type { Terminal } from '../terminal';
import { openWebhookSecrets } from './secrets';
import { describeWebhook, webhookOption } from './webhook';

interface SecretOptions extends CommonOptions {
  readonly webhook: string;
}

const help = `
Needs lambda:InvokeFunction on OperationsFunctionName and kms:GenerateMac on WebhookSecretsKeyArn.

Examples:
  SECRET=$(npm run -s wallet -- webhook secret --webhook wh-…)
  wallet webhook secret --webhook wh-… --json            {"webhookId":"…","secret":"…","secretVersion":1}`;

export function register(group: Command, terminal: Terminal): void {
  withEnvironment(group.command('secret'))
    .summary('print the present secret of a webhook')
    .description('Prints the present secret of a webhook, for a receiver that has lost it.')
    .requiredOption(...webhookOption)
    .addHelpText('after', help)
    .action((options: SecretOptions) => printSecret(options, terminal));
}

async function printSecret({ webhook, ...options }: SecretOptions, terminal: Terminal): Promise<void> {
  const target = await openTarget(options);
  const secrets = await openWebhookSecrets(target);
  const { webhookId, secretVersion } = await describeWebhook(target, webhook);
  const secret = await secrets.secret(webhookId, secretVersion);
  terminal.result(options.json ? JSON.stringify({ webhookId, secret, secretVersion }) : secret);
}
