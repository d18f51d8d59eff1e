import type { Command } from 'commander';
import { runOperation } from '../operations-function';
import { type CommonOptions, id, withEnvironment } from '../options';
import { walletCommand } from '../pasted-command';
import { allowProduction, requireProductionAllowed } from '../production-guard';
import { openTarget } from '../target';
import type { Terminal } from '../terminal';
import { eventKinds } from './event-kind';
import { receiverUrl, requireReceiverUrl } from './receiver-url';
import { openWebhookSecrets } from './secrets';

interface AddOptions extends CommonOptions {
  readonly organization: string;
  readonly url: string;
  readonly kinds?: readonly string[];
  readonly allowProduction?: boolean;
}

const help = `
The URL is https, with a public name, and port 443 or one from 1024 up. On this machine it may also be
http://127.0.0.1:PORT/, where "wallet receive" listens.

Needs lambda:InvokeFunction on OperationsFunctionName and kms:GenerateMac on WebhookSecretsKeyArn.

Examples:
  wallet webhook add --organization or-… --url http://127.0.0.1:8010/
  wallet webhook add --organization or-… --url https://hooks.customer.com/wallet --kinds wallet.created,wallet.deleted
  wallet webhook add --environment uae --organization or-… --url https://… --json     {"webhookId":"…","secret":"…"}`;

export function register(group: Command, terminal: Terminal): void {
  withEnvironment(group.command('add'))
    .summary('add a webhook to an organization, and print its secret')
    .description('Adds a webhook to an organization and prints its id and the secret for its receiver.')
    .requiredOption('--organization <id>', 'the organization whose events it wants', id('or'))
    .requiredOption('--url <url>', 'where its deliveries go', receiverUrl)
    .option(
      '--kinds <kinds>',
      'the kinds of events it wants, with commas between; all when left out',
      eventKinds,
    )
    .addOption(allowProduction())
    .addHelpText('after', help)
    .action((options: AddOptions) => add(options, terminal));
}

async function add(options: AddOptions, terminal: Terminal): Promise<void> {
  const target = await openTarget(options, terminal);
  requireReceiverUrl(target, '--url', options.url);
  requireProductionAllowed(target, options, 'a webhook sends events of the organization out of it');
  const deriveSecret = await openWebhookSecrets(target);
  const { organization: organizationId, url, kinds = null } = options;
  const added = await runOperation(target, 'add-webhook', { organizationId, url, kinds });
  const { webhookId, secretVersion } = added;
  terminal.note(
    `Added ${webhookId}. Its secret again: ${walletCommand('webhook secret', options)} --webhook ${webhookId}`,
  );

  const secret = await deriveSecret(webhookId, secretVersion);
  if (options.json) return terminal.result(JSON.stringify({ webhookId, secret }));
  terminal.result(`webhookId  ${webhookId}\nsecret     ${secret}`);
  terminal.note(`
Send it an event:
  ${walletCommand('local send-event', options)} \\
    --organization ${organizationId} --kind ${kinds?.[0] ?? 'wallet.created'} --data '{}'`);
}
