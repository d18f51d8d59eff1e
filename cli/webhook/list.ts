import type { Command } from 'commander';
import { type CommonOptions, id, withEnvironment } from '../options';
import { openTarget } from '../target';
import { type Terminal, table } from '../terminal';
import { listWebhooks, stateOf } from './webhook';

interface ListOptions extends CommonOptions {
  readonly organization: string;
}

const help = `
Examples:
  wallet webhook list --organization or-…
  wallet webhook list --environment uae --organization or-… --json`;

export function register(group: Command, terminal: Terminal): void {
  withEnvironment(group.command('list'))
    .summary('list the webhooks of an organization')
    .description('Lists the webhooks of an organization, the enabled ones first, at most 50.')
    .requiredOption('--organization <id>', 'the organization', id('or'))
    .addHelpText('after', help)
    .action((options: ListOptions) => list(options, terminal));
}

async function list({ organization, ...options }: ListOptions, terminal: Terminal): Promise<void> {
  const webhooks = await listWebhooks(await openTarget(options, terminal), organization);
  if (options.json) return terminal.result(JSON.stringify(webhooks));
  if (webhooks.length === 0) return terminal.note(`${organization} has no webhook.`);
  const rows = webhooks.map((webhook) => [
    webhook.webhookId,
    stateOf(webhook),
    webhook.kinds?.join(',') ?? 'all',
    String(webhook.secretVersion),
    webhook.createdAt,
    webhook.url,
  ]);
  terminal.result(table([['WEBHOOK', 'STATE', 'KINDS', 'SECRET', 'ADDED', 'URL'], ...rows], terminal.bold));
}
