import type { Command } from 'commander';
import { runOperation } from '../operations-function';
import { withEnvironment } from '../options';
import { openTarget } from '../target';
import type { Terminal } from '../terminal';
import { openWebhookSecrets } from './secrets';
import { type WebhookOptions, webhookOption } from './webhook';

interface RotateOptions extends WebhookOptions {
  readonly again?: boolean;
}

const help = `
Deliveries carry a signature by each of the two secrets for 24 hours: the receiver may change over at any time within
them. If the old secret has leaked, rotate twice: "--again" ends it at once.

Needs lambda:InvokeFunction on OperationsFunctionName and kms:GenerateMac on WebhookSecretsKeyArn.

Examples:
  wallet webhook rotate --webhook wh-…
  wallet webhook rotate --webhook wh-… --again
  wallet webhook rotate --webhook wh-… --json            {"webhookId":"…","secret":"…","secretVersion":2,…}`;

export function register(group: Command, terminal: Terminal): void {
  withEnvironment(group.command('rotate'))
    .summary('give a webhook a new secret; the old one signs for 24 more hours')
    .description('Gives a webhook a new secret and prints it. The old one signs beside it for 24 hours.')
    .requiredOption(...webhookOption)
    .option('--again', 'also within 24 hours of the last rotation, which ends the older secret at once')
    .addHelpText('after', help)
    .action((options: RotateOptions) => rotate(options, terminal));
}

async function rotate({ webhook, again, ...options }: RotateOptions, terminal: Terminal): Promise<void> {
  const target = await openTarget(options, terminal);
  const deriveSecret = await openWebhookSecrets(target);
  const rotated = await runOperation(target, 'rotate-webhook-secret', {
    webhookId: webhook,
    again: again ?? false,
  });
  const { webhookId, secretVersion, previousSignsUntil } = rotated;
  terminal.note(
    `Rotated ${webhookId}. Its new secret and the one before it both sign until ${previousSignsUntil}.`,
  );

  const secret = await deriveSecret(webhookId, secretVersion);
  if (options.json)
    return terminal.result(JSON.stringify({ webhookId, secret, secretVersion, previousSignsUntil }));
  terminal.result(secret);
}
