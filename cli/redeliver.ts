import type { Command } from 'commander';
import { writeRedelivery } from '../domain/event';
import type { KeptEvent } from '../domain/operations';
import { environmentCommand } from './environment-command';
import { CommandFailed, UsedWrongly } from './failure';
import { awaitInterruption } from './interruption';
import { runOperation } from './operations-function';
import { number, time } from './options';
import { sendMessages } from './queue-messages';
import { eventId } from './send-event';
import type { Target } from './target';
import type { Terminal } from './terminal';
import { describeWebhook, requireEnabled, webhookOption } from './webhooks';

interface RedeliverOptions {
  readonly webhook: string;
  readonly event?: string;
  /** ISO 8601, UTC. */
  readonly since?: string;
  readonly undelivered?: boolean;
  readonly dryRun?: boolean;
  readonly limit?: number;
}

const help = `Events of the last 14 days that the webhook wants and that are not older than it: delivered before, given up, or never
sent because it was disabled. Each delivery keeps its webhook-id and is attempted for another 72 hours. The command can be
interrupted and run again: receivers recognize duplicates by the webhook-id.

Examples:
  wallet redeliver --webhook wh-… --event evt_…          one delivery, a successful one too
  wallet redeliver --webhook wh-… --since 24h --undelivered --dry-run
  wallet redeliver --environment uae --webhook wh-… --since 2026-11-20T12:00:00Z --json`;

export function register(program: Command, terminal: Terminal): void {
  environmentCommand<RedeliverOptions>(program, terminal, 'redeliver', {
    summary: 'deliver events to a webhook again',
    description: 'Delivers events to a webhook again: one, or all since a time.',
    help,
    run: redeliver,
  })
    .requiredOption(...webhookOption)
    .option('--event <id>', 'this event', eventId)
    .option('--since <time>', 'all from this time: ISO 8601, or an age such as 2h', time)
    .option('--undelivered', 'with --since: only what was never delivered')
    .option('--limit <number>', 'maximum (default: all)', number(1, 999_999_999))
    .option('--dry-run', 'print how many it would deliver, and send nothing');
}

async function redeliver(
  target: Target,
  options: RedeliverOptions & { readonly json?: boolean },
  print: (value: unknown, text: () => string) => void,
): Promise<void> {
  const { webhook: webhookId, event, since, undelivered, dryRun = false } = options;
  if ((event === undefined) === (since === undefined)) throw new UsedWrongly('Give --event or --since.');
  if (undelivered && !since) throw new UsedWrongly('--undelivered goes with --since.');
  requireEnabled(await describeWebhook(target, webhookId), target);

  const { limit = Number.POSITIVE_INFINITY } = options;
  const { signal, forget } = awaitInterruption();
  let redelivered = 0;
  try {
    for await (const batch of batches(target, options)) {
      const some = batch.slice(0, limit - redelivered);
      if (signal.aborted || some.length === 0) break;
      const messages = some.map(({ eventId }) => ({
        body: writeRedelivery({ eventId, webhookId }),
        // Of the webhook: many of them do not hold up the events of others.
        group: webhookId,
      }));
      if (!dryRun) await sendMessages(target, 'WebhookEventsQueueUrl', messages);
      redelivered += some.length;
      if (redelivered % 1_000 === 0) target.note(`${redelivered} events …`);
    }
  } finally {
    forget();
  }
  if (event && redelivered === 0)
    throw new CommandFailed(
      `Event ${event} is not available for ${webhookId} in environment ${target.environment.name}.`,
      `Events are kept for 14 days, for webhooks that existed then and want their kind: ${target.paste(`webhook show --webhook ${webhookId}`)}`,
    );
  const rest = signal.aborted ? ' Interrupted: run it again for the rest.' : '';
  print(
    { redelivered, dryRun, interrupted: signal.aborted },
    () => `${dryRun ? 'Would redeliver' : 'Redelivered'} ${redelivered}.${rest}`,
  );
}

const pageSize = 1_000;

/** Stored events in the order in which they came, as many at once as one call of SQS takes. */
async function* batches(
  target: Target,
  {
    webhook: webhookId,
    event: eventId,
    undelivered = false,
    since = new Date(0).toISOString(),
  }: RedeliverOptions,
): AsyncGenerator<readonly KeptEvent[]> {
  const until = new Date().toISOString();
  for (let after: string | undefined; ; ) {
    const query = { webhookId, eventId, undelivered, since, until, after, limit: pageSize };
    const { events } = await runOperation(target, 'list-kept-events', query);
    for (let start = 0; start < events.length; start += 10) yield events.slice(start, start + 10);
    const last = events.at(-1);
    if (!last || events.length < pageSize) return;
    ({ acceptedAt: since, eventId: after } = last);
  }
}
