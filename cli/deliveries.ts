import { type Command, Option } from 'commander';
import { type Attempt, outcomes } from '../domain/delivery';
import type { AttemptQuery } from '../domain/operations';
import { runOperation } from './operations-function';
import { type CommonOptions, count, id, moment, withEnvironment } from './options';
import { eventId } from './send-event';
import { openTarget, type Target } from './target';
import { type Terminal, table } from './terminal';

interface DeliveriesOptions extends CommonOptions {
  readonly event?: string;
  readonly webhook?: string;
  readonly status?: Attempt['outcome'];
  /** ISO 8601, UTC. */
  readonly since?: string;
  readonly until?: string;
  readonly limit: number;
}

const help = `
Without --event and --webhook, those of the last 24 hours unless --since says otherwise. Attempts are known for 31 days. What
has not been attempted yet is not listed. Events with test_ in their id come from "wallet webhook test".

A status is of an attempt: "failed" is tried again at the time in the last column, "given_up" was the last one
("wallet redeliver"), "disabled" had its webhook disabled, because the receiver answered 410.

Examples:
  wallet deliveries --event evt_…
  wallet deliveries --webhook wh-… --status failed --since 2h
  wallet deliveries --status given_up --since 2026-11-20 --until 2026-11-21
  wallet deliveries --environment uae --event evt_… --json`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('deliveries'))
    .summary('print the attempts to deliver events')
    .description('Prints the attempts to deliver events, the latest first.')
    .option('--event <id>', 'of this event', eventId)
    .option('--webhook <id>', 'to this webhook', id('wh'))
    .addOption(new Option('--status <status>', 'filter by outcome').choices(outcomes))
    .option('--since <moment>', 'from then on: ISO 8601, or an age, such as 2h', moment)
    .option('--until <moment>', 'up to then: ISO 8601, or an age', moment)
    .option('--limit <number>', 'maximum, up to 1000', count(1_000), 100)
    .addHelpText('after', help)
    .action((options: DeliveriesOptions) => deliveries(options, terminal));
}

async function deliveries(options: DeliveriesOptions, terminal: Terminal): Promise<void> {
  const target = await openTarget(options, terminal);
  const { event, webhook, status, until, limit } = options;
  const since = options.since ?? (event || webhook ? undefined : moment('24h'));
  const query = { eventId: event, webhookId: webhook, outcome: status, since, until, limit };
  const attempts = await listAttempts(target, query);
  if (options.json) return terminal.result(JSON.stringify(attempts));
  if (attempts.length === 0)
    return terminal.note(
      `No such attempt is known in ${options.environment}: no attempts yet, or none like this.`,
    );
  const rows = attempts.map((attempt) => [
    attempt.date,
    attempt.eventId,
    attempt.webhookId,
    attempt.outcome,
    String(attempt.status ?? '-'),
    attempt.reason,
    `${attempt.durationMs} ms`,
    attempt.nextAttemptAt ?? '',
  ]);
  const heading = ['DATE', 'EVENT', 'WEBHOOK', 'STATUS', 'HTTP', 'REASON', 'TOOK', 'NEXT'];
  terminal.result(table([heading, ...rows], terminal.bold));
  if (attempts.length === limit)
    terminal.note(`The latest ${limit}. Earlier ones: --until ${attempts.at(-1)?.date}`);
}

/** The attempts to deliver, the latest first. @throws OperationRefused `event_not_found`, `webhook_not_found` */
export async function listAttempts(target: Target, query: AttemptQuery): Promise<readonly Attempt[]> {
  return (await runOperation(target, 'list-delivery-attempts', query)).attempts;
}
