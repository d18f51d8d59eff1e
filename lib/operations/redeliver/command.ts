import { type Command, InvalidArgumentError, Option } from 'commander';
import { UsedWrongly } from '../failure';
import { awaitInterruption } from '../interruption';
import { OperationRefused } from '../operations-function';
import { type CommonOptions, id, withEnvironment } from '../options';
import { openTarget, type Target } from '../target';
import { type Terminal, table } from '../terminal';
import { describeWebhook } from '../webhook/webhook';
import { openDeadLetterQueue } from './dead-letter-queue';
import { decideOnDelivery, decideOnEvent, type WebhookState } from './decision';
import { type Outcome, redeliverAll } from './run';

interface RedeliverOptions extends CommonOptions {
  readonly from: keyof typeof queues;
  readonly webhook?: string;
  readonly dryRun?: boolean;
  readonly limit?: number;
}

const queues = {
  deliveries: { deadLetters: 'WebhookDeliveryDeadLetterQueueUrl', queue: 'WebhookDeliveryQueueUrl' },
  events: { deadLetters: 'WebhookEventsDeadLetterQueueUrl', queue: 'WebhookEventsQueueUrl' },
} as const;

const help = `
A delivery that is sent again keeps its webhook-id and has another 72 hours of attempts. Those to a webhook that is
disabled or removed stay on the dead-letter queue, where messages live 14 days, and so does what cannot be read.
With "--from events", events come from the dead-letter queue of the events.

It can be interrupted at any point and run again. A message may be sent twice then: receivers know it by its webhook-id.

Needs sqs:GetQueueAttributes, ReceiveMessage, DeleteMessage and ChangeMessageVisibility on the dead-letter queue,
sqs:SendMessage on the queue, and lambda:InvokeFunction on OperationsFunctionName.

Examples:
  wallet redeliver --dry-run                             what would be sent again, by webhook and reason
  wallet redeliver --webhook wh-…
  wallet redeliver --environment uae --outputs outputs.json --limit 100 --json`;

export function register(program: Command, terminal: Terminal): void {
  withEnvironment(program.command('redeliver'))
    .summary('send deliveries again that were given up')
    .description('Sends deliveries again that were given up: takes them from the dead-letter queue.')
    .addOption(
      new Option('--from <source>', 'whose dead letters').choices(Object.keys(queues)).default('deliveries'),
    )
    .option('--webhook <id>', 'only deliveries to this webhook', id('wh'))
    .option('--limit <number>', 'send at most so many; all when left out', limit)
    .option('--dry-run', 'print what would be sent again, and send nothing')
    .addHelpText('after', help)
    .action((options: RedeliverOptions) => redeliver(options, terminal));
}

async function redeliver(options: RedeliverOptions, terminal: Terminal): Promise<void> {
  const { from, webhook, dryRun = false, limit = Number.POSITIVE_INFINITY } = options;
  if (from === 'events' && webhook)
    throw new UsedWrongly('An event is for every webhook: give --webhook or "--from events", not both.');
  const target = await openTarget(options, terminal);
  const queue = await openDeadLetterQueue(target, queues[from]);
  const total = await queue.count();
  terminal.note(`The dead-letter queue has about ${total} messages.`);

  const { signal, forget } = awaitInterruption();
  const onProgress = everySecond((looked) => terminal.note(`${looked} of about ${total} …`));
  const decide = from === 'events' ? decideOnEvent : decideOnDelivery(webhookStates(target), webhook);
  const outcomes = await redeliverAll({ queue, decide, dryRun, limit, signal, onProgress }).finally(forget);
  print({ outcomes, dryRun, interrupted: signal.aborted, json: options.json }, terminal);
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

interface Run {
  readonly outcomes: readonly Outcome[];
  readonly dryRun: boolean;
  readonly interrupted: boolean;
  readonly json: boolean | undefined;
}

function print({ outcomes, dryRun, interrupted, json }: Run, terminal: Terminal): void {
  const sum = (some: readonly Outcome[]) => some.reduce((total, { messages }) => total + messages, 0);
  const redelivered = sum(outcomes.filter(({ keptBecause }) => keptBecause === null));
  const kept = sum(outcomes) - redelivered;
  if (json) {
    terminal.result(JSON.stringify({ redelivered, kept, dryRun, interrupted, outcomes }));
    return;
  }
  const rows = outcomes.map(({ webhookId, reason, keptBecause, messages }) => [
    webhookId ?? '-',
    reason ?? 'received too often',
    String(messages),
    keptBecause ? `stays: ${keptBecause}` : dryRun ? 'would be sent' : 'sent',
  ]);
  if (rows.length > 0)
    terminal.result(table([['WEBHOOK', 'REASON', 'MESSAGES', ''], ...rows], terminal.bold));
  const done = dryRun ? 'Would redeliver' : 'Redelivered';
  const rest = interrupted ? ' Interrupted: run it again for the rest.' : '';
  terminal.note(`${done} ${redelivered}, left ${kept}.${rest}`);
}

function everySecond(report: (looked: number) => void): (looked: number) => void {
  let last = Date.now();
  return (looked) => {
    if (Date.now() - last < 1_000) return;
    last = Date.now();
    report(looked);
  };
}

function limit(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a number of messages, from 1.');
}
