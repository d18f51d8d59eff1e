import type { Command } from 'commander';
import { disabledEvent } from '../domain/event';
import type { OperationResult, Webhook } from '../domain/operations';
import { environmentCommand } from './environment-command';
import { UsageError } from './failure';
import { runOperation } from './operations-function';
import { duration, id } from './options';
import { sendMessages } from './queue-messages';
import { columns, type Terminal, table } from './terminal';
import { type TestOptions, testWebhook } from './webhook-test';
import { deriveSecret, eventKind, receiverUrl, webhookOption } from './webhooks';

interface OfOrganization {
  readonly organization: string;
}
interface OfWebhook {
  readonly webhook: string;
}
interface Subscription {
  readonly url?: string;
  readonly kinds?: string[];
}

export function register(program: Command, terminal: Terminal): void {
  const group = program
    .command('webhook')
    .usage('COMMAND [options]')
    .summary('add, show, change, test, disable and remove webhooks')
    .description('Manages the webhooks of organizations: where events go, and the secrets that sign them.');
  const organizationOption = ['--organization <id>', 'the organization', id('or')] as const;

  environmentCommand<OfOrganization & Subscription>(group, terminal, 'add', {
    summary: 'add a webhook to an organization, and print its secret',
    help: `The URL is https with a public name; on this machine also http://127.0.0.1:PORT/ ("wallet local receive").

Examples:
  wallet webhook add --organization or-… --url http://127.0.0.1:8010/
  wallet webhook add --environment uae --organization or-… --url https://hooks.customer.com/wallet \\
    --kinds wallet.created,wallet.deleted --json            {"webhookId":"…","secret":"…"}`,
    production: 'a webhook sends events of the organization out of it',
    async run(target, { organization: organizationId, url = '', kinds = null }, print) {
      const added = await runOperation(target, 'add-webhook', { organizationId, url, kinds });
      const { webhookId, secretVersion } = added;
      target.note(
        `Added ${webhookId}. To print its secret again: ${target.paste(`webhook secret --webhook ${webhookId}`)}`,
      );
      const secret = await deriveSecret(target, webhookId, secretVersion);
      print({ webhookId, secret }, () => `webhookId  ${webhookId}\nsecret     ${secret}`);
      const kind = kinds?.[0] ?? 'wallet.created';
      const send = `local send-event --organization ${organizationId} --kind ${kind} --data '{}'`;
      target.note(`To send it an event: ${target.paste(send)}`);
    },
  })
    .requiredOption(...organizationOption)
    .requiredOption('--url <url>', 'where its deliveries go', receiverUrl)
    .option('--kinds <kinds>', 'kinds of events, separated by commas (default: all)', eventKinds);

  environmentCommand<OfOrganization>(group, terminal, 'list', {
    summary: 'list the webhooks of an organization, the enabled ones first',
    help: 'Examples:\n  wallet webhook list --organization or-… --json',
    async run(target, { organization: organizationId, json }, print) {
      const { webhooks } = await runOperation(target, 'list-webhooks', { organizationId });
      if (!json && webhooks.length === 0) return target.note(`${organizationId} has no webhook.`);
      const rows = webhooks.map((webhook) => {
        const { webhookId, kinds, secretVersion, createdAt, url } = webhook;
        return [webhookId, formatState(webhook), formatKinds(kinds), String(secretVersion), createdAt, url];
      });
      const heading = ['WEBHOOK', 'STATE', 'KINDS', 'SECRET', 'ADDED', 'URL'];
      print(webhooks, () => table([heading, ...rows], terminal.bold));
    },
  }).requiredOption(...organizationOption);

  /** A command that is one operation on one webhook. */
  function operation<Name extends 'describe-webhook' | 'enable-webhook' | 'remove-webhook'>(
    name: string,
    operationName: Name,
    format: (result: OperationResult<Name>) => string,
    texts: { readonly summary: string; readonly help: string; readonly production?: string },
  ) {
    environmentCommand<OfWebhook>(group, terminal, name, {
      ...texts,
      async run(target, { webhook: webhookId }, print) {
        const result = await runOperation(target, operationName, { webhookId });
        print(result, () => format(result));
      },
    }).requiredOption(...webhookOption);
  }

  operation('show', 'describe-webhook', formatWebhook, {
    summary: 'print the organization, URL, kinds, state and secret version of a webhook',
    help: 'Examples:\n  wallet webhook show --webhook wh-… --json',
  });

  environmentCommand<OfWebhook & Subscription & { readonly allKinds?: boolean }>(group, terminal, 'update', {
    summary: 'change the URL of a webhook, its kinds of events, or both',
    help: `Pending retries go to the new URL, too. The secret stays: rotate it twice if the new receiver must not share it with the
old one. A disabled webhook stays disabled.

Examples:
  wallet webhook update --webhook wh-… --url https://hooks.customer.com/wallet/2
  wallet webhook update --environment uae --webhook wh-… --all-kinds --allow-production --json`,
    production: 'other events of the organization go out of it, or elsewhere',
    async run(target, { webhook: webhookId, url, kinds, allKinds }, print) {
      if (url === undefined && !kinds && !allKinds)
        throw new UsageError('There is nothing to change.', 'Give --url, --kinds or --all-kinds.');
      if (kinds && allKinds) throw new UsageError('Give --kinds or --all-kinds, not both.');
      const change = { webhookId, url, kinds: allKinds ? null : kinds };
      const webhook = await runOperation(target, 'update-webhook', change);
      print(webhook, () => formatWebhook(webhook));
    },
  })
    .requiredOption(...webhookOption)
    .option('--url <url>', 'its new URL', receiverUrl)
    .option('--kinds <kinds>', 'its new kinds of events, separated by commas', eventKinds)
    .option('--all-kinds', 'deliver events of all kinds');

  environmentCommand<TestOptions>(group, terminal, 'test', testWebhook)
    .requiredOption(...webhookOption)
    .addOption(
      duration('--timeout <duration>', 'how long to wait for the attempt', { usual: '1m', most: '15m' }),
    );

  environmentCommand<OfWebhook>(group, terminal, 'secret', {
    summary: 'print the current secret of a webhook, for a receiver that has lost it',
    help: `Examples:
  SECRET=$(wallet webhook secret --webhook wh-…)
  wallet webhook secret --webhook wh-… --json            {"webhookId":"…","secret":"…","secretVersion":1}`,
    async run(target, { webhook: webhookId }, print) {
      const { secretVersion } = await runOperation(target, 'describe-webhook', { webhookId });
      const secret = await deriveSecret(target, webhookId, secretVersion);
      print({ webhookId, secret, secretVersion }, () => secret);
    },
  }).requiredOption(...webhookOption);

  environmentCommand<OfWebhook & { readonly again?: boolean }>(group, terminal, 'rotate', {
    summary: 'give a webhook a new secret; the old one signs for 24 more hours',
    help: `If the old secret has leaked, rotate twice: "--again" ends it at once.

Examples:
  wallet webhook rotate --webhook wh-…
  wallet webhook rotate --webhook wh-… --again --json    {"webhookId":"…","secret":"…","secretVersion":3,…}`,
    async run(target, { webhook: webhookId, again = false }, print) {
      const rotated = await runOperation(target, 'rotate-webhook-secret', { webhookId, again });
      const { secretVersion, previousSignsUntil } = rotated;
      target.note(
        `Rotated ${webhookId}. The new secret and the one before it both sign until ${previousSignsUntil}.`,
      );
      const secret = await deriveSecret(target, webhookId, secretVersion);
      print({ webhookId, secret, secretVersion, previousSignsUntil }, () => secret);
    },
  })
    .requiredOption(...webhookOption)
    .option('--again', 'also within 24 hours of the last rotation: ends the older secret at once');

  environmentCommand<OfWebhook>(group, terminal, 'disable', {
    summary: 'stop deliveries to a webhook until it is enabled, and drop pending ones',
    help: `The organization's other webhooks get an event of kind webhook.disabled. "wallet redeliver" sends what it missed.

Examples:
  wallet webhook disable --webhook wh-…`,
    async run(target, { webhook: webhookId }, print) {
      const disabled = await runOperation(target, 'disable-webhook', { webhookId });
      const { changed, organizationId, ...state } = disabled;
      if (changed) {
        target.note(`${webhookId} is disabled. Sending webhook.disabled to ${organizationId} …`);
        const disabledAt = Date.parse(state.disabledAt);
        const { text } = disabledEvent({
          webhookId,
          organizationId,
          reason: state.disabledReason,
          disabledAt,
        });
        await sendMessages(target, 'WebhookEventsQueueUrl', [{ body: text, group: organizationId }]);
      }
      print(state, () => `${webhookId} is disabled.`);
    },
  }).requiredOption(...webhookOption);

  operation('enable', 'enable-webhook', ({ webhookId }) => `${webhookId} is enabled.`, {
    summary: 'deliver to a disabled webhook again',
    help: `It receives new events. "wallet redeliver" sends what it missed, and what was given up.

Examples:
  wallet webhook enable --webhook wh-…`,
  });

  operation('remove', 'remove-webhook', ({ webhookId }) => `${webhookId} is removed.`, {
    summary: 'remove a webhook for good, and drop pending deliveries',
    help: `Examples:
  wallet webhook remove --webhook wh-…
  wallet webhook remove --environment uae --webhook wh-… --allow-production --json`,
    production: 'a webhook that is removed cannot be brought back',
  });
}

const eventKinds = (text: string): string[] => text.split(',').map(eventKind);

const formatKinds = (kinds: Webhook['kinds']) => kinds?.join(',') ?? 'all';

const formatState = ({ enabled, disabledReason }: Webhook) =>
  enabled ? 'enabled' : `disabled: ${disabledReason}`;

function formatWebhook(webhook: Webhook): string {
  const since = (time: string | null) => (time ? `, since ${time}` : '');
  return columns([
    ['webhook', webhook.webhookId],
    ['organization', webhook.organizationId],
    ['url', webhook.url],
    ['kinds', formatKinds(webhook.kinds)],
    ['state', `${formatState(webhook)}${since(webhook.disabledAt)}`],
    ['secret', `version ${webhook.secretVersion}${since(webhook.rotatedAt)}`],
    ['added', webhook.createdAt],
  ]).join('\n');
}
