import type { Command } from 'commander';
import { readList, runOperation } from './operations-function';
import { type CommonOptions, withEnvironment } from './options';
import { eventId } from './send-event';
import { openTarget, type Target } from './target';
import { type Terminal, table } from './terminal';

interface DeliveriesOptions extends CommonOptions {
  readonly event: string;
}

/** One request to a receiver. Times are ISO 8601, UTC. */
export interface Attempt {
  readonly date: string;
  readonly webhookId: string;
  /** The receiver's `webhook-id`. */
  readonly deliveryId: string;
  /** Null when the receiver gave none. */
  readonly status: number | null;
  readonly durationMs: number;
  readonly outcome: 'delivered' | 'failed' | 'disabled' | 'given_up';
  readonly reason: string;
  /** Null when it is not tried again. */
  readonly nextAttemptAt: string | null;
}

const help = `
What has not been attempted yet is not listed. What was given up waits on a dead-letter queue: see "wallet redeliver".

Examples:
  wallet deliveries --event evt_…
  wallet deliveries --environment uae --event evt_… --json`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('deliveries'))
    .summary('print the attempts to deliver an event')
    .description(
      'Prints the attempts to deliver an event in their order, at most 1,000, of the last 31 days.',
    )
    .requiredOption('--event <id>', 'the event', eventId)
    .addHelpText('after', help)
    .action((options: DeliveriesOptions) => deliveries(options, terminal));
}

async function deliveries({ event, ...options }: DeliveriesOptions, terminal: Terminal): Promise<void> {
  const target = await openTarget(options, terminal);
  const attempts = await listAttempts(target, event);
  if (options.json) return terminal.result(JSON.stringify(attempts));
  const rows = attempts.map((attempt) => [
    attempt.date,
    attempt.webhookId,
    attempt.outcome,
    String(attempt.status ?? '-'),
    attempt.reason,
    `${attempt.durationMs} ms`,
    attempt.nextAttemptAt ?? '',
  ]);
  if (rows.length > 0) {
    const heading = ['DATE', 'WEBHOOK', 'OUTCOME', 'STATUS', 'REASON', 'TOOK', 'NEXT'];
    return terminal.result(table([heading, ...rows], terminal.bold));
  }
  terminal.note(
    `No attempt to deliver ${event} is known in ${options.environment}: it is on its way, no enabled webhook wants it, it is older than 31 days, or there is no such event.`,
  );
}

/** The attempts to deliver an event, in their order: at most 1,000. */
export async function listAttempts(target: Target, eventId: string): Promise<readonly Attempt[]> {
  return readList(await runOperation(target, 'list-delivery-attempts', { eventId }), 'attempts');
}
