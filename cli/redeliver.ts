import type { Command } from 'commander';
import { writeRedelivery } from '../domain/event';
import { type Definition, environmentCommand } from './environment-command';
import { CommandFailed, UsageError } from './failure';
import { awaitInterruption } from './interruption';
import { runOperation } from './operations-function';
import { number, time } from './options';
import { sendMessages } from './queue-messages';
import { eventId } from './send-event';
import type { Terminal } from './terminal';
import { describeEnabledWebhook, webhookOption } from './webhooks';

interface RedeliverOptions {
  readonly webhook: string;
  readonly event?: string;
  /** ISO 8601, UTC. */
  readonly since?: string;
  readonly undelivered?: boolean;
  readonly dryRun?: boolean;
  readonly limit?: number;
}

/** The operation's maximum. */
const pageSize = 1_000;

const redeliver: Definition<RedeliverOptions> = {
  summary: 'deliver one event, or all since a time, to a webhook again',
  help: `Covers events of the last 14 days that match the webhook's kinds and are not older than it: delivered, given up, or never
sent because it was disabled. Each delivery keeps its webhook-id and is attempted for another 72 hours. The command can be
interrupted and run again: receivers detect duplicates by the webhook-id.`,
  async run(target, { webhook: webhookId, event, undelivered = false, dryRun = false, ...options }, print) {
    if ((event === undefined) === (options.since === undefined))
      throw new UsageError('Give --event or --since.');
    if (undelivered && event) throw new UsageError('--undelivered requires --since.');
    await describeEnabledWebhook(target, webhookId);

    const { signal, forget } = awaitInterruption();
    const until = new Date().toISOString();
    let { since = new Date(0).toISOString() } = options;
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    let after: string | undefined;
    let redelivered = 0;
    for (let more = true; more && !signal.aborted; ) {
      const limit = Math.min(pageSize, left);
      const query = { webhookId, eventId: event, undelivered, since, until, after, limit };
      const { events } = await runOperation(target, 'list-stored-events', query);
      // SQS accepts ten messages per call.
      for (let start = 0; start < events.length && !signal.aborted; start += 10) {
        const batch = events.slice(start, start + 10);
        const messages = batch.map(({ eventId }) => ({
          body: writeRedelivery({ eventId, webhookId }),
          // The webhook's group: its redeliveries do not delay other webhooks' events.
          group: webhookId,
        }));
        if (!dryRun) await sendMessages(target, 'WebhookEventsQueueUrl', messages);
        redelivered += batch.length;
      }
      ({ acceptedAt: since, eventId: after } = events.at(-1) ?? { acceptedAt: since, eventId: after });
      left -= events.length;
      more = events.length === pageSize && left > 0;
      if (more) target.note(`${redelivered} events …`);
    }
    forget();
    if (event && redelivered === 0)
      throw new CommandFailed(
        `Event ${event} is not available for ${webhookId} in environment ${target.environment.name}.`,
        `Events are kept for 14 days. The webhook must have existed when the event was sent, and include its kind: ${target.paste(`webhook show --webhook ${webhookId}`)}`,
      );
    const rest = signal.aborted ? ' Interrupted: run it again to continue.' : '';
    print(
      { redelivered, dryRun, interrupted: signal.aborted },
      () => `${dryRun ? 'Would redeliver' : 'Redelivered'} ${redelivered}.${rest}`,
    );
  },
};

export function register(program: Command, terminal: Terminal): void {
  environmentCommand(program, terminal, 'redeliver', redeliver)
    .requiredOption(...webhookOption)
    .option('--event <id>', 'the event', eventId)
    .option('--since <time>', 'all events since this time: ISO 8601, or an age such as 2h', time)
    .option('--undelivered', 'with --since: only events that were never delivered')
    .option('--limit <number>', 'maximum (default: all)', number(1, 999_999_999))
    .option('--dry-run', 'print the number of events without sending them');
}
