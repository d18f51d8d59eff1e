import type { Command } from 'commander';
import { writeRedelivery } from '../../domain/event';
import { type Definition, environmentCommand } from '../shell/deployed-environment';
import { CommandFailed, UsageError } from '../shell/failure';
import { runOperation } from '../shell/operations';
import { time } from '../shell/options';
import type { Terminal } from '../shell/terminal';
import { customersWebhookOption, eventId } from './options';
import { describeEnabledWebhook, sendMessages } from './queue';

interface RedeliverOptions {
  readonly webhook: string;
  readonly event?: string;
  /** ISO 8601, UTC. */
  readonly since?: string;
  readonly until?: string;
  readonly undelivered?: boolean;
  readonly dryRun?: boolean;
}

/** Milliseconds for which events are stored: `lambda/purge-expired`. A minute more: time passes until this is compared. */
const longestAge = 14 * 86_400_000 + 60_000;

const pageSize = 1_000;

const redeliver: Definition<RedeliverOptions> = {
  summary: 'deliver one event, or all since a time, to a webhook again',
  help: `Covers events of the last 14 days that match the webhook's kinds and are not older than it: delivered, given up, or never
sent because it was disabled. Each delivery keeps its webhook-id and has the whole schedule again; one that still waits is sent
too, so a receiver can get it twice. The command can be interrupted and run again: receivers detect duplicates by the webhook-id.`,
  production: 'what is redelivered cannot be called back',
  async run(target, { webhook: webhookId, event, undelivered = false, dryRun = false, ...options }, print) {
    if ((event === undefined) === (options.since === undefined))
      throw new UsageError('Give --event or --since.');
    if (event && (undelivered || options.until))
      throw new UsageError('--undelivered and --until require --since.');
    const now = new Date();
    const { since: start = new Date(0).toISOString(), until = now.toISOString() } = options;
    if (options.since && Date.parse(start) < now.getTime() - longestAge)
      throw new UsageError(
        `Events are stored for 14 days: ${start} is earlier.`,
        'The earliest: --since 14d',
      );
    if (until < start) throw new UsageError(`--until ${until} is before --since ${start}.`);
    await describeEnabledWebhook(target, webhookId);

    let since = start;
    let after: string | undefined;
    const counts = { redelivered: 0, delivered: 0 };
    for (let more = true; more; ) {
      const query = { webhookId, eventId: event, undelivered, since, until, after, limit: pageSize };
      const { events } = await runOperation(target, 'list-stored-events', query);
      for (let start = 0; start < events.length; start += 10) {
        const batch = events.slice(start, start + 10);
        const messages = batch.map(({ eventId }) => ({
          body: writeRedelivery({ eventId, webhookId }),
          // The webhook's group: its redeliveries do not delay other webhooks' events.
          group: webhookId,
        }));
        if (!dryRun) await sendMessages(target, 'WebhookEventsQueueUrl', messages);
        counts.redelivered += batch.length;
      }
      counts.delivered += events.filter(({ delivered }) => delivered).length;
      ({ acceptedAt: since, eventId: after } = events.at(-1) ?? { acceptedAt: since, eventId: after });
      more = events.length === pageSize;
      if (more) target.note(`${counts.redelivered} events …`);
    }
    const { redelivered, delivered } = counts;
    if (event && redelivered === 0)
      throw new CommandFailed(
        `Event ${event} is not available for ${webhookId} in environment ${target.environment.name}.`,
        `Events are kept for 14 days. The webhook must have existed when the event was sent, and include its kind: ${target.walletCommand(`webhook show --webhook ${webhookId}`)}`,
      );
    print(
      { ...counts, dryRun },
      () =>
        `${dryRun ? 'Would redeliver' : 'Redelivered'} ${redelivered}${delivered > 0 ? `, of which ${delivered} had been delivered` : ''}.`,
    );
  },
};

export function register(program: Command, terminal: Terminal): void {
  environmentCommand(program, terminal, 'redeliver', redeliver)
    .requiredOption(...customersWebhookOption)
    .option('--event <id>', 'the event', eventId)
    .option('--since <time>', 'all events since this time: ISO 8601, or an age such as 2h', time)
    .option('--until <time>', 'with --since: only events until this time', time)
    .option('--undelivered', 'with --since: only events that were never delivered')
    .option('--dry-run', 'print the numbers without sending anything');
}
