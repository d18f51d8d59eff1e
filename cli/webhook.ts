import type { Command } from 'commander';
import { disabledEvent } from '../domain/event';
import type { Webhook } from '../domain/operations';
import { UsedWrongly } from './failure';
import { runOperation } from './operations-function';
import { type CommonOptions, id, withEnvironment } from './options';
import { walletCommand } from './pasted-command';
import { allowProduction, requireProductionAllowed } from './production-guard';
import { sendMessages } from './queue-messages';
import { openTarget } from './target';
import { columns, type Terminal, table } from './terminal';
import { register as registerTest } from './webhook-test';
import {
  describeWebhook,
  eventKind,
  openWebhookSecrets,
  receiverUrl,
  requireReceiverUrl,
  stateOf,
  type WebhookOptions,
  webhookOption,
} from './webhooks';

const help = `
Examples:
  wallet webhook add --organization or-… --url https://hooks.customer.com/wallet
  wallet webhook list --organization or-…
  wallet webhook test --webhook wh-…
  wallet webhook rotate --webhook wh-…`;

export function register(program: Command, terminal: Terminal): void {
  const group = program
    .command('webhook')
    .usage('COMMAND [options]')
    .summary('add, show, change, test, disable and remove webhooks')
    .description('Manages the webhooks of organizations: where events go, and the secrets that sign them.')
    .addHelpText('after', help);
  registerAdd(group, terminal);
  registerList(group, terminal);
  registerShow(group, terminal);
  registerUpdate(group, terminal);
  registerTest(group, terminal);
  registerSecret(group, terminal);
  registerRotate(group, terminal);
  registerDisable(group, terminal);
  registerEnable(group, terminal);
  registerRemove(group, terminal);
}

interface Texts {
  readonly summary: string;
  readonly description: string;
  readonly help: string;
}

const command = (group: Command, name: string, { summary, description, help }: Texts) =>
  withEnvironment(group.command(name))
    .summary(summary)
    .description(description)
    .addHelpText('after', `\n${help}`);

interface ProductionOptions {
  readonly allowProduction?: boolean;
}

interface OrganizationOptions extends CommonOptions {
  readonly organization: string;
}

interface AddOptions extends OrganizationOptions, ProductionOptions {
  readonly url: string;
  readonly kinds?: readonly string[];
}

function registerAdd(group: Command, terminal: Terminal): void {
  command(group, 'add', {
    summary: 'add a webhook to an organization, and print its secret',
    description: 'Adds a webhook to an organization and prints its id and the secret for its receiver.',
    help: `The URL is https, with a public name, and port 443 or one from 1024 up. On this machine it may also be
http://127.0.0.1:PORT/, where "wallet local receive" listens.

Examples:
  wallet webhook add --organization or-… --url http://127.0.0.1:8010/
  wallet webhook add --organization or-… --url https://hooks.customer.com/wallet --kinds wallet.created,wallet.deleted
  wallet webhook add --environment uae --organization or-… --url https://… --json     {"webhookId":"…","secret":"…"}`,
  })
    .requiredOption('--organization <id>', 'the organization whose events it wants', id('or'))
    .requiredOption('--url <url>', 'where its deliveries go', receiverUrl)
    .option('--kinds <kinds>', 'the kinds of events it wants, with commas between (default: all)', eventKinds)
    .addOption(allowProduction())
    .action(async (options: AddOptions) => {
      const target = await openTarget(options, terminal);
      requireReceiverUrl(target, '--url', options.url);
      requireProductionAllowed(target, options, 'a webhook sends events of the organization out of it');
      const deriveSecret = await openWebhookSecrets(target);
      const { organization: organizationId, url, kinds = null } = options;
      const added = await runOperation(target, 'add-webhook', { organizationId, url, kinds });
      const { webhookId, secretVersion } = added;
      const secretCommand = `${walletCommand('webhook secret', options)} --webhook ${webhookId}`;
      terminal.note(`Added ${webhookId}. Its secret again: ${secretCommand}`);

      const secret = await deriveSecret(webhookId, secretVersion);
      if (options.json) return terminal.result(JSON.stringify({ webhookId, secret }));
      terminal.result(`webhookId  ${webhookId}\nsecret     ${secret}`);
      const sendEvent = walletCommand('local send-event', options);
      terminal.note(`
Send it an event:
  ${sendEvent} --organization ${organizationId} --kind ${kinds?.[0] ?? 'wallet.created'} --data '{}'`);
    });
}

function registerList(group: Command, terminal: Terminal): void {
  command(group, 'list', {
    summary: 'list the webhooks of an organization',
    description: 'Lists the webhooks of an organization, the enabled ones first, at most 50.',
    help: `Examples:
  wallet webhook list --organization or-… --json`,
  })
    .requiredOption('--organization <id>', 'the organization', id('or'))
    .action(async ({ organization: organizationId, ...options }: OrganizationOptions) => {
      const target = await openTarget(options, terminal);
      const { webhooks } = await runOperation(target, 'list-webhooks', { organizationId });
      if (options.json) return terminal.result(JSON.stringify(webhooks));
      if (webhooks.length === 0) return terminal.note(`${organizationId} has no webhook.`);
      const rows = webhooks.map((webhook) => [
        webhook.webhookId,
        stateOf(webhook),
        webhook.kinds?.join(',') ?? 'all',
        String(webhook.secretVersion),
        webhook.createdAt,
        webhook.url,
      ]);
      const heading = ['WEBHOOK', 'STATE', 'KINDS', 'SECRET', 'ADDED', 'URL'];
      terminal.result(table([heading, ...rows], terminal.bold));
    });
}

function registerShow(group: Command, terminal: Terminal): void {
  command(group, 'show', {
    summary: 'print where a webhook goes, what it wants, and its state',
    description: 'Prints the organization, URL, kinds of events, state and secret version of a webhook.',
    help: `Examples:
  wallet webhook show --webhook wh-… --json`,
  })
    .requiredOption(...webhookOption)
    .action(async ({ webhook: webhookId, ...options }: WebhookOptions) => {
      const target = await openTarget(options, terminal);
      printWebhook(await describeWebhook(target, webhookId), options, terminal);
    });
}

interface UpdateOptions extends WebhookOptions, ProductionOptions {
  readonly url?: string;
  readonly kinds?: readonly string[];
  readonly allKinds?: boolean;
}

function registerUpdate(group: Command, terminal: Terminal): void {
  command(group, 'update', {
    summary: 'change where a webhook goes, or which kinds of events it wants',
    description: 'Changes the URL of a webhook, the kinds of events that it wants, or both, and prints it.',
    help: `Deliveries that wait for a retry go to the new URL, too. The secret stays: if the new receiver must not share it with the
old one, rotate it twice. A disabled webhook stays disabled.

Examples:
  wallet webhook update --webhook wh-… --url https://hooks.customer.com/wallet/2
  wallet webhook update --webhook wh-… --kinds wallet.created,wallet.deleted
  wallet webhook update --environment uae --webhook wh-… --all-kinds --allow-production --json`,
  })
    .requiredOption(...webhookOption)
    .option('--url <url>', 'where its deliveries go from now on', receiverUrl)
    .option('--kinds <kinds>', 'the kinds of events it wants from now on, with commas between', eventKinds)
    .option('--all-kinds', 'it wants all kinds of events from now on')
    .addOption(allowProduction())
    .action(async (options: UpdateOptions) => {
      const { webhook: webhookId, url, kinds, allKinds } = options;
      if (url === undefined && !kinds && !allKinds)
        throw new UsedWrongly('There is nothing to change.', 'Give --url, --kinds or --all-kinds.');
      if (kinds && allKinds) throw new UsedWrongly('Give --kinds or --all-kinds, not both.');
      const target = await openTarget(options, terminal);
      if (url !== undefined) requireReceiverUrl(target, '--url', url);
      requireProductionAllowed(
        target,
        options,
        'other events of the organization go out of it, or elsewhere',
      );
      const change = { webhookId, url, kinds: allKinds ? null : kinds };
      printWebhook(await runOperation(target, 'update-webhook', change), options, terminal);
    });
}

function registerSecret(group: Command, terminal: Terminal): void {
  command(group, 'secret', {
    summary: 'print the current secret of a webhook',
    description: 'Prints the current secret of a webhook, for a receiver that has lost it.',
    help: `Examples:
  SECRET=$(wallet webhook secret --webhook wh-…)
  wallet webhook secret --webhook wh-… --json            {"webhookId":"…","secret":"…","secretVersion":1}`,
  })
    .requiredOption(...webhookOption)
    .action(async ({ webhook: webhookId, ...options }: WebhookOptions) => {
      const target = await openTarget(options, terminal);
      const deriveSecret = await openWebhookSecrets(target);
      const { secretVersion } = await describeWebhook(target, webhookId);
      const secret = await deriveSecret(webhookId, secretVersion);
      terminal.result(options.json ? JSON.stringify({ webhookId, secret, secretVersion }) : secret);
    });
}

interface RotateOptions extends WebhookOptions {
  readonly again?: boolean;
}

function registerRotate(group: Command, terminal: Terminal): void {
  command(group, 'rotate', {
    summary: 'give a webhook a new secret; the old one signs for 24 more hours',
    description: 'Gives a webhook a new secret and prints it. The old one signs beside it for 24 hours.',
    help: `Deliveries carry a signature by each of the two secrets for 24 hours: the receiver may change over at any time within
them. If the old secret has leaked, rotate twice: "--again" ends it at once.

Examples:
  wallet webhook rotate --webhook wh-…
  wallet webhook rotate --webhook wh-… --again
  wallet webhook rotate --webhook wh-… --json            {"webhookId":"…","secret":"…","secretVersion":2,…}`,
  })
    .requiredOption(...webhookOption)
    .option('--again', 'also within 24 hours of the last rotation, which ends the older secret at once')
    .action(async ({ webhook: webhookId, again = false, ...options }: RotateOptions) => {
      const target = await openTarget(options, terminal);
      const deriveSecret = await openWebhookSecrets(target);
      const rotated = await runOperation(target, 'rotate-webhook-secret', { webhookId, again });
      const { secretVersion, previousSignsUntil } = rotated;
      terminal.note(
        `Rotated ${webhookId}. Its new secret and the one before it both sign until ${previousSignsUntil}.`,
      );
      const secret = await deriveSecret(webhookId, secretVersion);
      const printed = { webhookId, secret, secretVersion, previousSignsUntil };
      terminal.result(options.json ? JSON.stringify(printed) : secret);
    });
}

function registerDisable(group: Command, terminal: Terminal): void {
  command(group, 'disable', {
    summary: 'stop deliveries to a webhook',
    description: 'Disables a webhook: nothing is delivered to it until it is enabled, nor tried again.',
    help: `Deliveries on their way to it are dropped. "wallet redeliver --webhook ID --since TIME" sends the events of the last 14 days
that it missed. The organization's other webhooks get an event of kind webhook.disabled.

Examples:
  wallet webhook disable --webhook wh-…`,
  })
    .requiredOption(...webhookOption)
    .action(async ({ webhook: webhookId, ...options }: WebhookOptions) => {
      const target = await openTarget(options, terminal);
      const disabled = await runOperation(target, 'disable-webhook', { webhookId });
      const { changed, organizationId, ...state } = disabled;
      if (changed) {
        terminal.note(`${webhookId} is disabled. Telling ${organizationId} …`);
        const disabledAt = Date.parse(state.disabledAt);
        const event = { webhookId, organizationId, reason: state.disabledReason, disabledAt };
        const message = { body: disabledEvent(event).text, group: organizationId };
        await sendMessages(target, 'WebhookEventsQueueUrl', [message]);
      }
      terminal.result(options.json ? JSON.stringify(state) : `${webhookId} is disabled.`);
    });
}

function registerEnable(group: Command, terminal: Terminal): void {
  command(group, 'enable', {
    summary: 'deliver to a webhook again',
    description: 'Enables a webhook that was disabled, by an operator or because its receiver answered 410.',
    help: `It gets what happens from now on. "wallet redeliver" sends what it missed, and what was given up.

Examples:
  wallet webhook enable --webhook wh-…`,
  })
    .requiredOption(...webhookOption)
    .action(async ({ webhook: webhookId, ...options }: WebhookOptions) => {
      const target = await openTarget(options, terminal);
      const state = await runOperation(target, 'enable-webhook', { webhookId });
      terminal.result(options.json ? JSON.stringify(state) : `${webhookId} is enabled.`);
    });
}

function registerRemove(group: Command, terminal: Terminal): void {
  command(group, 'remove', {
    summary: 'remove a webhook for good',
    description:
      'Removes a webhook for good, with its secret. The record of its deliveries stays for 31 days.',
    help: `It cannot be undone: one that is added later has another id and another secret. Deliveries on their way to it are dropped.
"wallet webhook disable" stops them for a while.

Examples:
  wallet webhook remove --webhook wh-…
  wallet webhook remove --environment uae --webhook wh-… --allow-production --json`,
  })
    .requiredOption(...webhookOption)
    .addOption(allowProduction())
    .action(async ({ webhook: webhookId, ...options }: WebhookOptions & ProductionOptions) => {
      const target = await openTarget(options, terminal);
      requireProductionAllowed(target, options, 'a webhook that is removed cannot be brought back');
      const removed = await runOperation(target, 'remove-webhook', { webhookId });
      terminal.result(options.json ? JSON.stringify(removed) : `${webhookId} is removed.`);
    });
}

const eventKinds = (text: string): readonly string[] => text.split(',').map(eventKind);

function printWebhook(webhook: Webhook, { json }: CommonOptions, terminal: Terminal): void {
  if (json) {
    terminal.result(JSON.stringify(webhook));
    return;
  }
  const { webhookId, organizationId, url, kinds, disabledAt, secretVersion, rotatedAt, createdAt } = webhook;
  const lines = columns([
    ['webhook', webhookId],
    ['organization', organizationId],
    ['url', url],
    ['kinds', kinds?.join(',') ?? 'all'],
    ['state', `${stateOf(webhook)}${disabledAt ? `, since ${disabledAt}` : ''}`],
    ['secret', `version ${secretVersion}${rotatedAt ? `, since ${rotatedAt}` : ''}`],
    ['added', createdAt],
  ]);
  terminal.result(lines.join('\n'));
}
