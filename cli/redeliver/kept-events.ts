import { writeRedelivery } from '../../domain/event';
import type { KeptEvent, Webhook } from '../../domain/operations';
import { CommandFailed } from '../failure';
import { runOperation } from '../operations-function';
import { sendMessages } from '../queue-messages';
import type { Target } from '../target';
import { requireEnabled } from '../webhooks';
import { everySecond } from './report';
import type { Outcome, RunOptions } from './run';

export interface KeptOptions extends Pick<RunOptions, 'dryRun' | 'limit' | 'signal'> {
  readonly target: Target;
  readonly webhook: Webhook;
  /** Only this one. */
  readonly event: string | undefined;
  /** ISO 8601, UTC. @default - as long as they are kept */
  readonly since: string | undefined;
  /** ISO 8601, UTC. @default - now */
  readonly until: string | undefined;
  /** Leaves out what was delivered to the webhook. */
  readonly undelivered: boolean | undefined;
}

/** Of one call of SQS. */
const batchSize = 10;
const pageSize = 1_000;

/**
 * Has events that the environment keeps delivered again to one webhook, in the order in which they came. It sends their ids:
 * the function that fans out finds the bodies, so that they stay in the region.
 *
 * @throws CommandFailed for a disabled webhook, and for an event that is not kept or that the webhook does not want
 */
export async function redeliverKept(options: KeptOptions): Promise<readonly Outcome[]> {
  const { target, webhook, event, dryRun, limit, signal } = options;
  const { webhookId } = webhook;
  requireEnabled(webhook, target);
  const onProgress = everySecond((count) => target.note(`${count} events …`));
  let messages = 0;
  for await (const batch of batches(options)) {
    const some = batch.slice(0, limit - messages);
    if (signal.aborted || some.length === 0) break;
    if (!dryRun) await sendMessages(target, 'WebhookEventsQueueUrl', some.map(toMessage(webhookId)));
    messages += some.length;
    onProgress(messages);
  }
  if (event && messages === 0)
    throw new CommandFailed(
      `No event ${event} that ${webhookId} wants is kept in environment ${target.environment.name}.`,
      `Events are kept for 14 days, from when they are fanned out. Which kinds the webhook wants: ${target.paste(`webhook show --webhook ${webhookId}`)}`,
    );
  return messages === 0 ? [] : [{ webhookId, reason: 'asked for', keptBecause: null, messages }];
}

async function* batches({ target, webhook, ...options }: KeptOptions): AsyncGenerator<readonly KeptEvent[]> {
  const { event: eventId, undelivered = false, until = new Date().toISOString() } = options;
  const { webhookId } = webhook;
  let { since = new Date(0).toISOString() } = options;
  for (let after: string | undefined; ; ) {
    const input = { webhookId, eventId, undelivered, since, until, after, limit: pageSize };
    const { events } = await runOperation(target, 'list-kept-events', input);
    for (let start = 0; start < events.length; start += batchSize)
      yield events.slice(start, start + batchSize);
    const last = events.at(-1);
    if (!last || events.length < pageSize) return;
    ({ acceptedAt: since, eventId: after } = last);
  }
}

/** In the webhook's group: many of them do not hold up the events of others. */
const toMessage =
  (webhookId: string) =>
  ({ eventId }: KeptEvent) => ({
    body: writeRedelivery({ eventId, webhookId }),
    group: webhookId,
  });
