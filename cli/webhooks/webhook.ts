import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { type PauseReason, writeDelivery } from '../../domain/delivery';
import { disabledEvent } from '../../domain/event';
import type { Webhook } from '../../domain/operations';
import { newUrlRefusals, normalizeReceiverUrl } from '../../domain/receiver-url';
import { type Definition, type DeployedEnvironment, environmentCommand } from '../shell/deployed-environment';
import { CommandFailed, UsageError } from '../shell/failure';
import { runOperation } from '../shell/operations';
import { id, time } from '../shell/options';
import { columns, type Terminal, table } from '../shell/terminal';
import { requireDelivered, waitForAttempt } from './attempts';
import { customersWebhookOption, eventKind, receiverUrl, webhookOption } from './options';
import { describeEnabledWebhook, sendMessages } from './queue';
import { deriveSecret } from './secret';

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
    .description('Manage the webhooks of organizations: their URLs, kinds of events and secrets.');
  const ofOrganization = <Options>(name: string, definition: Definition<OfOrganization & Options>) =>
    environmentCommand(group, terminal, name, definition).requiredOption(
      '--organization <id>',
      'the organization',
      id('or'),
    );
  const ofWebhook = <Options>(name: string, definition: Definition<OfWebhook & Options>) =>
    environmentCommand(group, terminal, name, definition).requiredOption(...webhookOption);

  ofOrganization<Subscription>('add', {
    summary: 'add a webhook to an organization, and print its secret',
    help: 'The URL must be https with a public host name; on this machine also http://127.0.0.1:PORT/ ("wallet local receive").\nIt is stored as it is requested: the name in ASCII, and percent-encoded what a URL cannot contain.',
    production: "a webhook sends the organization's events to another system",
    async run(target, { organization: organizationId, url = '', kinds = null }, print) {
      const added = await runOperation(target, 'add-webhook', { organizationId, url, kinds });
      const { webhookId, secretVersion, url: requested } = added;
      const again = target.walletCommand(`webhook secret --webhook ${webhookId}`);
      target.note(`Added ${webhookId}: deliveries go to ${requested}\nTo print its secret again: ${again}`);
      const secret = await deriveSecret(target, webhookId, secretVersion);
      print({ webhookId, secret }, () => `webhookId  ${webhookId}\nsecret     ${secret}`);
      const kind = kinds?.[0] ?? 'wallet.created';
      const send = `local send-event --organization ${organizationId} --kind ${kind} --data '{}'`;
      target.note(`To send it an event: ${target.walletCommand(send)}`);
    },
  })
    .requiredOption('--url <url>', 'where to deliver events', receiverUrl)
    .option('--kinds <kinds>', 'event kinds, separated by commas (default: all)', eventKinds);

  ofOrganization('list', {
    summary: 'list the webhooks of an organization, enabled ones first',
    async run(target, { organization: organizationId, json }, print) {
      const { webhooks } = await runOperation(target, 'list-webhooks', { organizationId });
      if (!json && webhooks.length === 0) return target.note(`${organizationId} has no webhooks.`);
      const rows = webhooks.map((webhook) => {
        const { webhookId, kinds, secretVersion, createdAt } = webhook;
        const url = markUrl(webhook.url);
        return [webhookId, formatState(webhook), formatKinds(kinds), String(secretVersion), createdAt, url];
      });
      const heading = ['WEBHOOK', 'STATE', 'KINDS', 'SECRET', 'ADDED', 'URL'];
      print(webhooks, () => table([heading, ...rows], terminal));
    },
  });

  ofWebhook('show', {
    summary:
      'print the organization, URL, kinds, state and secret version of a webhook, and what was given up',
    help: 'Deliveries that were given up are those of the last 24 hours, the latest 100. "wallet redeliver" sends them again.',
    async run(target, { webhook: webhookId }, print) {
      const webhook = await runOperation(target, 'describe-webhook', { webhookId });
      const query = { webhookId, outcome: 'given_up', since: time('24h'), limit: 100 } as const;
      const { attempts } = await runOperation(target, 'list-delivery-attempts', query);
      const givenUp = attempts.map(({ date, eventId, reason }) => ({ date, eventId, reason }));
      const [latest] = givenUp;
      const line = latest
        ? `${givenUp.length} in 24 hours, the latest at ${latest.date}: ${latest.reason}`
        : 'none in 24 hours';
      print({ ...webhook, givenUp }, () => formatWebhook(webhook, ['given up', line]));
    },
  });

  ofWebhook<Subscription & { readonly allKinds?: boolean }>('update', {
    summary: 'change the URL or the event kinds of a webhook',
    help: `Deliveries that wait use the new URL, and a pause ends. The secret does not change: rotate it twice if the new receiver must
not share it with the old one. A disabled webhook stays disabled.`,
    production: "the organization's events may go to another system",
    async run(target, { webhook: webhookId, url, kinds, allKinds }, print) {
      if (kinds ? allKinds : url === undefined && !allKinds)
        throw new UsageError('Give --url, --kinds or --all-kinds; the last two exclude each other.');
      const change = { webhookId, url, kinds: allKinds ? null : kinds };
      const webhook = await runOperation(target, 'update-webhook', change);
      print(webhook, () => formatWebhook(webhook));
    },
  })
    .option('--url <url>', 'its new URL', receiverUrl)
    .option('--kinds <kinds>', 'its new event kinds, separated by commas', eventKinds)
    .option('--all-kinds', 'deliver events of all kinds');

  environmentCommand(group, terminal, 'test', testWebhook).requiredOption(...customersWebhookOption);

  ofWebhook('secret', {
    summary: 'print the current secret of a webhook',
    async run(target, { webhook: webhookId }, print) {
      const { secretVersion } = await runOperation(target, 'describe-webhook', { webhookId });
      const secret = await deriveSecret(target, webhookId, secretVersion);
      print({ webhookId, secret, secretVersion }, () => secret);
    },
  });

  ofWebhook<{ readonly again?: boolean }>('rotate', {
    summary: 'give a webhook a new secret; the old one remains valid for 24 hours',
    help: 'If the old secret has leaked, rotate twice: "--again" invalidates it at once.',
    production: 'a secret that is replaced cannot be restored',
    async run(target, { webhook: webhookId, again = false }, print) {
      const rotated = await runOperation(target, 'rotate-webhook-secret', { webhookId, again });
      const { secretVersion, previousSignsUntil } = rotated;
      target.note(`Both the new and the previous secret sign until ${previousSignsUntil}.`);
      const secret = await deriveSecret(target, webhookId, secretVersion);
      print({ webhookId, secret, secretVersion, previousSignsUntil }, () => secret);
    },
  }).option('--again', 'rotate again within 24 hours: invalidates the oldest secret at once');

  ofWebhook('disable', {
    summary: 'stop deliveries to a webhook',
    help: `Deliveries that come due meanwhile are dropped; those that come due after "enable" are sent. To keep bad deliveries from being
sent, leave it disabled for eight hours: each comes due within 7 h 12 min, or later by our backlog. The organization's other
webhooks receive an event of kind webhook.disabled. After "enable", "wallet redeliver" sends what it missed.`,
    production: 'deliveries that come due while a webhook is disabled are dropped',
    async run(target, { webhook: webhookId }, print) {
      const disabled = await runOperation(target, 'disable-webhook', { webhookId });
      const { organizationId, disabledReason, disabledAt } = disabled;
      // Also if already disabled: an earlier run may have died before this. The event's id is the same.
      const since = Date.parse(String(disabledAt));
      const event = { webhookId, organizationId, reason: String(disabledReason), disabledAt: since };
      const message = { body: disabledEvent(event).text, group: organizationId };
      await sendMessages(target, 'WebhookEventsQueueUrl', [message]);
      print(disabled, () => `${webhookId} is disabled.`);
    },
  });

  ofWebhook('enable', {
    summary: 'resume deliveries to a webhook, disabled or paused',
    help: `It receives new events at once. Deliveries that wait for a pause notice its end within 15 minutes, and are sent between then
and the time that they had; retries keep their time. "wallet redeliver" sends what it missed or what was given up; with
--undelivered also what still waits, which the receiver can then get twice.`,
    production: "the organization's events go to its receiver again",
    async run(target, { webhook: webhookId }, print) {
      print(await runOperation(target, 'enable-webhook', { webhookId }), () => `${webhookId} is enabled.`);
    },
  });

  ofWebhook('remove', {
    summary: 'remove a webhook permanently and drop pending deliveries',
    production: 'a removed webhook cannot be restored',
    async run(target, { webhook: webhookId }, print) {
      print(await runOperation(target, 'remove-webhook', { webhookId }), () => `${webhookId} is removed.`);
    },
  });
}

const testWebhook: Definition<{ readonly webhook: string }> = {
  summary: 'send a signed test event to a webhook and print the first attempt',
  help: `Only this webhook receives the event, whatever its kinds. The event contains no data of the organization, so it needs no
--allow-production. A failed delivery is retried as any other. While the webhook is paused, nothing is sent.`,
  async run(target, { webhook: webhookId }, print) {
    const webhook = await describeUnpausedWebhook(target, webhookId);
    const eventId = await sendTestEvent(target, webhook);
    target.note(`Sent ${eventId} to ${webhook.url}. Waiting for the first attempt …`);
    const attempt = await waitForAttempt(target, { eventId, webhookId }, { seconds: 60 }).catch(
      async (error) => {
        await describeUnpausedWebhook(target, webhookId);
        throw error;
      },
    );
    const { status, durationMs, outcome } = attempt;
    print(attempt, () => `${outcome}, status ${status ?? 'none'} after ${durationMs} ms`);
    requireDelivered(attempt);
  },
};

const pauseReasons: Readonly<Record<PauseReason, string>> = {
  no_response: 'its last attempts got no response',
  retry_after: 'its receiver asked for time by Retry-After',
};

/** After the pause's end the test may be its trial. @throws CommandFailed if it is paused or disabled */
async function describeUnpausedWebhook(target: DeployedEnvironment, webhookId: string): Promise<Webhook> {
  const webhook = await describeEnabledWebhook(target, webhookId);
  const { pausedUntil, pauseReason } = webhook;
  if (!pausedUntil || !pauseReason || Date.parse(pausedUntil) <= Date.now()) return webhook;
  throw new CommandFailed(
    `${webhookId} is paused until ${pausedUntil}: ${pauseReasons[pauseReason]}. Deliveries to it wait.`,
    `End the pause: ${target.walletCommand(`webhook enable --webhook ${webhookId}`)}`,
  );
}

/** Uses the delivery queue: the events queue fans out to all webhooks of the organization. */
async function sendTestEvent(
  target: DeployedEnvironment,
  { webhookId, organizationId }: Webhook,
): Promise<string> {
  const random = randomBytes(16).toString('hex');
  const eventId = `evt_test_${random}`;
  const date = new Date();
  const event = { id: eventId, organizationId, kind: 'webhook.test', date, data: { webhookId } };
  const body = JSON.stringify(event);
  const delivery = { deliveryId: `msg_${random}`, webhookId, eventId, acceptedAt: date.getTime(), body };
  const message = { body: writeDelivery(delivery), group: webhookId };
  await sendMessages(target, 'WebhookDeliveryQueueUrl', [message]);
  return eventId;
}

const eventKinds = (text: string): string[] => text.split(',').map(eventKind);

const formatKinds = (kinds: Webhook['kinds']) => kinds?.join(',') ?? 'all';

const formatState = ({ enabled, disabledReason }: Webhook) =>
  enabled ? 'enabled' : `disabled: ${disabledReason}`;

/** With what is wrong with one that was stored before it was checked as today. It goes on being requested as before. */
function markUrl(url: string): string {
  const today = normalizeReceiverUrl(url, { allowLocal: true });
  if (!today.ok) return `${url} (${newUrlRefusals[today.error]})`;
  return today.value === url ? url : `${url} (Not a URL of RFC 3986: update it to ${today.value})`;
}

function formatWebhook(webhook: Webhook, ...more: [string, string][]): string {
  const since = (time: string | null) => (time ? `, since ${time}` : '');
  return columns([
    ['webhook', webhook.webhookId],
    ['organization', webhook.organizationId],
    ['url', webhook.url],
    ['kinds', formatKinds(webhook.kinds)],
    ['state', `${formatState(webhook)}${since(webhook.disabledAt)}`],
    ...(webhook.pausedUntil === null
      ? []
      : [['paused', `until ${webhook.pausedUntil}, ${webhook.pauseReason}`] as [string, string]]),
    ['secret', `version ${webhook.secretVersion}${since(webhook.rotatedAt)}`],
    ['added', webhook.createdAt],
    ...more,
  ]).join('\n');
}
