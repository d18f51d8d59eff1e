import type { Command } from 'commander';
import { writeRedelivery } from '../domain/event';
import type { KeptEvent } from '../domain/operations';
import { CommandFailed, UsedWrongly } from './failure';
import { awaitInterruption } from './interruption';
import { runOperation } from './operations-function';
import { type CommonOptions, count, id, moment, withEnvironment } from './options';
import { sendMessages } from './queue-messages';
import { eventId } from './send-event';
import { openTarget, type Target } from './target';
import type { Terminal } from './terminal';
import { describeWebhook, requireEnabled } from './webhooks';

interface RedeliverOptions extends CommonOptions {
  readonly webhook: string;
  readonly event?: string;
  /** ISO 8601, UTC. */
  readonly since?: string;
  readonly undelivered?: boolean;
  readonly dryRun?: boolean;
  readonly limit?: number;
}

const help = `
Events of the last 14 days that the webhook wants and that are not older than it: delivered before, given up, or never sent
because it was disabled. They stay in the region: the command asks for them by their ids. Each delivery keeps its webhook-id
and has another 72 hours of attempts. It can be interrupted and run again: receivers know what comes twice by its webhook-id.

Examples:
  wallet redeliver --webhook wh-… --event evt_…          one delivery, a successful one too
  wallet redeliver --webhook wh-… --since 24h --undelivered --dry-run
  wallet redeliver --environment uae --webhook wh-… --since 2026-11-20T12:00:00Z --json`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('redeliver'))
    .summary('deliver events to a webhook again')
    .description('Delivers events to a webhook again: one, or all since a time.')
    .requiredOption('--webhook <id>', 'the webhook', id('wh'))
    .option('--event <id>', 'this event', eventId)
    .option('--since <moment>', 'all from then on: ISO 8601, or an age, such as 2h', moment)
    .option('--undelivered', 'with --since: only what was never delivered')
    .option('--limit <number>', 'maximum (default: all)', count(999_999_999))
    .option('--dry-run', 'print how many it would deliver, and send nothing')
    .addHelpText('after', help)
    .action((options: RedeliverOptions) => redeliver(options, terminal));
}

async function redeliver(options: RedeliverOptions, terminal: Terminal): Promise<void> {
  const { webhook: webhookId, event, since, undelivered, dryRun = false } = options;
  if ((event === undefined) === (since === undefined)) throw new UsedWrongly('Give --event or --since.');
  if (undelivered && !since) throw new UsedWrongly('--undelivered goes with --since.');
  const target = await openTarget(options, terminal);
  requireEnabled(await describeWebhook(target, webhookId), target);

  const { limit = Number.POSITIVE_INFINITY } = options;
  const { signal, forget } = awaitInterruption();
  let redelivered = 0;
  try {
    for await (const batch of batches(target, options)) {
      const some = batch.slice(0, limit - redelivered);
      if (signal.aborted || some.length === 0) break;
      if (!dryRun) await sendMessages(target, 'WebhookEventsQueueUrl', some.map(toMessage(webhookId)));
      redelivered += some.length;
      if (redelivered % 1_000 === 0) terminal.note(`${redelivered} events …`);
    }
  } finally {
    forget();
  }
  if (event && redelivered === 0)
    throw new CommandFailed(
      `No event ${event} that ${webhookId} wants is kept in environment ${target.environment.name}.`,
      `Events are kept for 14 days, from when they are fanned out, for webhooks that existed then. Which kinds the webhook wants: ${target.paste(`webhook show --webhook ${webhookId}`)}`,
    );
  const interrupted = signal.aborted;
  if (options.json) terminal.result(JSON.stringify({ redelivered, dryRun, interrupted }));
  const rest = interrupted ? ' Interrupted: run it again for the rest.' : '';
  terminal.note(`${dryRun ? 'Would redeliver' : 'Redelivered'} ${redelivered}.${rest}`);
}

const pageSize = 1_000;

/** Kept events, as many at once as one call of SQS takes, in the order in which they came. */
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

/** In the webhook's group: many of them do not hold up the events of others. */
const toMessage =
  (webhookId: string) =>
  ({ eventId }: KeptEvent) => ({ body: writeRedelivery({ eventId, webhookId }), group: webhookId });
