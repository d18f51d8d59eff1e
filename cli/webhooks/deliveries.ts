import { type Command, Option } from 'commander';
import { type Attempt, outcomes } from '../../domain/delivery';
import { environmentCommand } from '../shell/deployed-environment';
import { runOperation } from '../shell/operations';
import { id, time } from '../shell/options';
import { type Terminal, table } from '../shell/terminal';
import { eventId } from './options';

const limit = 100;

interface DeliveriesOptions {
  readonly event?: string;
  readonly webhook?: string;
  readonly status?: Attempt['outcome'];
  readonly since?: string;
  readonly until?: string;
}

const help = `Without --event, --webhook and --since, prints the last 24 hours. Attempts are kept for 31 days. Events with test_ in
their id come from "wallet webhook test".

The series is "-" for the first delivery, and otherwise that of a redelivery; the attempt is its number in the schedule.
Outcomes: "failed" is retried at the time in the last column, "given_up" was the last attempt (see "wallet redeliver"),
"disabled" disabled the webhook because the receiver returned 410. The reason "paused" is of a delivery without a request: its
webhook was paused for the rest of its schedule. "wallet webhook show" says until when it is paused.`;

export function register(program: Command, terminal: Terminal): void {
  environmentCommand<DeliveriesOptions>(program, terminal, 'deliveries', {
    summary: 'print delivery attempts, latest first',
    help,
    async run(target, { event, webhook, status, until, json, ...options }, print) {
      const since = options.since ?? (event || webhook ? undefined : time('24h'));
      const query = { eventId: event, webhookId: webhook, outcome: status, since, until, limit };
      const { attempts } = await runOperation(target, 'list-delivery-attempts', query);
      if (!json && attempts.length === 0)
        return target.note(`No attempts yet in ${target.environment.name}, or none that match.`);
      const rows = attempts.map(({ durationMs, ...attempt }) => [
        ...[attempt.date, attempt.eventId, attempt.webhookId, attempt.series || '-'],
        ...[String(attempt.attempt ?? '-'), attempt.outcome],
        ...[String(attempt.status ?? '-'), attempt.reason, `${durationMs} ms`, attempt.nextAttemptAt ?? ''],
      ]);
      const heading = 'DATE EVENT WEBHOOK SERIES ATTEMPT STATUS HTTP REASON TOOK NEXT'.split(' ');
      print(attempts, () => table([heading, ...rows], terminal));
      if (attempts.length === limit && !json)
        target.note(`The latest ${limit}. Earlier ones: --until ${attempts.at(-1)?.date}`);
    },
  })
    .option('--event <id>', 'the event', eventId)
    .option('--webhook <id>', 'the webhook', id('wh'))
    .addOption(new Option('--status <status>', 'filter by outcome').choices(outcomes))
    .option('--since <time>', 'since this time: ISO 8601, or an age such as 2h', time)
    .option('--until <time>', 'until this time: ISO 8601, or an age', time);
}
