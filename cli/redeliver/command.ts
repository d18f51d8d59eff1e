import { type Command, Option } from 'commander';
import { UsedWrongly } from '../failure';
import { awaitInterruption } from '../interruption';
import { OperationRefused } from '../operations-function';
import { type CommonOptions, count, id, moment, withEnvironment } from '../options';
import { eventId } from '../send-event';
import { openTarget, type Target } from '../target';
import type { Terminal } from '../terminal';
import { describeWebhook } from '../webhooks';
import { openDeadLetterQueue } from './dead-letter-queue';
import { decideOnDelivery, decideOnEvent, type WebhookState } from './decision';
import { redeliverKept } from './kept-events';
import { everySecond, print } from './report';
import { type RunOptions, redeliverAll } from './run';

interface RedeliverOptions extends CommonOptions {
  readonly from: keyof typeof queues;
  readonly webhook?: string;
  readonly event?: string;
  /** ISO 8601, UTC. */
  readonly since?: string;
  readonly until?: string;
  readonly undelivered?: boolean;
  readonly dryRun?: boolean;
  readonly limit?: number;
}

const queues = {
  deliveries: { deadLetters: 'WebhookDeliveryDeadLetterQueueUrl', queue: 'WebhookDeliveryQueueUrl' },
  events: { deadLetters: 'WebhookEventsDeadLetterQueueUrl', queue: 'WebhookEventsQueueUrl' },
} as const;

const help = `
Without --event and --since, from the dead-letter queue. A delivery that is sent again keeps its webhook-id and has another 72
hours of attempts. Those to a webhook that is disabled or removed stay on the dead-letter queue, where messages live 14 days,
and so does what cannot be read. With "--from events", events come from the dead-letter queue of the events.

With --event or --since, what the webhook wants of the events of the last 14 days: delivered before, given up, or never sent
because the webhook was disabled. The events stay in the region: the command asks for them by their ids.

It can be interrupted at any point and run again. A message may be sent twice then: receivers know it by its webhook-id.

Needs lambda:InvokeFunction on OperationsFunctionName; sqs:GetQueueAttributes, ReceiveMessage, DeleteMessage and
ChangeMessageVisibility on the dead-letter queue; sqs:SendMessage on the queue, with --event or --since on that of the events.

Examples:
  wallet redeliver --dry-run                             what would be sent again, by webhook and reason
  wallet redeliver --webhook wh-…
  wallet redeliver --webhook wh-… --event evt_…          one delivery, a successful one too
  wallet redeliver --webhook wh-… --since 24h --undelivered
  wallet redeliver --environment uae --outputs outputs.json --limit 100 --json`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('redeliver'))
    .summary('send deliveries again')
    .description('Sends deliveries again: those that were given up, one, or all of a webhook since a time.')
    .addOption(
      new Option('--from <source>', 'whose dead letters').choices(Object.keys(queues)).default('deliveries'),
    )
    .option('--webhook <id>', 'only deliveries to this webhook', id('wh'))
    .option('--event <id>', 'the delivery of this event to the webhook', eventId)
    .option(
      '--since <moment>',
      'all of the webhook from then on: ISO 8601, or so long ago, such as 2h',
      moment,
    )
    .option('--until <moment>', 'with --since: up to then, or so long ago; now when left out', moment)
    .option('--undelivered', 'with --since: only what was never delivered')
    .option('--limit <number>', 'send at most so many; all when left out', count(999_999_999))
    .option('--dry-run', 'print what would be sent again, and send nothing')
    .addHelpText('after', help)
    .action((options: RedeliverOptions) => redeliver(options, terminal));
}

async function redeliver(options: RedeliverOptions, terminal: Terminal): Promise<void> {
  const { from, webhook, event, since, until, undelivered, dryRun = false } = options;
  if (from === 'events' && (webhook || event || since))
    throw new UsedWrongly('An event is for every webhook: give --webhook or "--from events", not both.');
  if ((event || since) && !webhook)
    throw new UsedWrongly('--event and --since are of one webhook.', 'Name it with --webhook.');
  if ((until || undelivered) && !since) throw new UsedWrongly('--until and --undelivered go with --since.');
  const target = await openTarget(options, terminal);
  const named = webhook === undefined ? undefined : await describeWebhook(target, webhook);

  const { limit = Number.POSITIVE_INFINITY, json } = options;
  const { signal, forget } = awaitInterruption();
  const common = { target, dryRun, limit, signal };
  const run =
    named && (event || since)
      ? redeliverKept({ ...common, webhook: named, event, since, until, undelivered })
      : redeliverDeadLetters({ ...common, from, only: webhook });
  const outcomes = await run.finally(forget);
  print({ outcomes, dryRun, interrupted: signal.aborted, json }, terminal);
}

interface DeadLetters extends Pick<RunOptions, 'dryRun' | 'limit' | 'signal'> {
  readonly target: Target;
  readonly from: keyof typeof queues;
  /** A webhook. */
  readonly only: string | undefined;
}

async function redeliverDeadLetters({ target, from, only, ...options }: DeadLetters) {
  const queue = await openDeadLetterQueue(target, queues[from]);
  const total = await queue.count();
  target.note(`The dead-letter queue has about ${total} messages.`);
  const onProgress = everySecond((looked) => target.note(`${looked} of about ${total} …`));
  const decide = from === 'events' ? decideOnEvent : decideOnDelivery(webhookStates(target), only);
  return redeliverAll({ ...options, queue, decide, onProgress });
}

/** Asks once for each webhook. */
function webhookStates(target: Target): (webhookId: string) => Promise<WebhookState> {
  const states = new Map<string, Promise<WebhookState>>();
  const ask = async (webhookId: string): Promise<WebhookState> => {
    try {
      return (await describeWebhook(target, webhookId)).enabled ? 'enabled' : 'disabled';
    } catch (error) {
      if (error instanceof OperationRefused && error.code === 'webhook_not_found') return 'removed';
      throw error;
    }
  };
  return (webhookId) => {
    const state = states.get(webhookId) ?? ask(webhookId);
    states.set(webhookId, state);
    return state;
  };
}
