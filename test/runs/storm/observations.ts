import { sql } from '../../../lambda/database/sql';
import type { WebhookReport } from '../world/ledger';
import { type DeadLetter, takeDeadLetters } from '../world/queues';
import type { ReceiverKind } from './behaviour';
import type { LogCounts } from './log-counts';
import type { Phase } from './phase';
import type { RunningStage } from './pipeline';
import type { World } from './world';

export interface GivenUp {
  readonly webhookId: string;
  readonly eventId: string;
  readonly reason: string;
  /** Milliseconds from the first attempt that has a row to the last. */
  readonly age: number;
}

/** What was seen of a storm. */
export interface Observations extends Pick<LogCounts, 'stopped' | 'fanOuts' | 'lines' | 'failures'> {
  readonly phases: readonly Phase[];
  readonly kills: { readonly deliverWebhook: number; readonly fanOutEvent: number };
  /** Milliseconds. */
  readonly duration: number;
  /** What the receivers saw. */
  readonly ledgers: readonly (WebhookReport & { readonly kind: ReceiverKind })[];
  /** The rows of attempts, counted by webhook. */
  readonly rows: ReadonlyMap<
    string,
    { readonly attempts: number; readonly answered: number; readonly failed: number }
  >;
  /** Of disabled webhooks: the reason. */
  readonly disabled: ReadonlyMap<string, string>;
  /** Deliveries that were given up. */
  readonly givenUp: readonly GivenUp[];
  /** What could not be read. */
  readonly deadLetters: readonly DeadLetter[];
  readonly refusedEvents: readonly DeadLetter[];
  readonly lost: { readonly fanOut: RunningStage['lost']; readonly deliver: RunningStage['lost'] };
}

/** Reads everything that a storm has left, when the queues are empty. */
export async function observe(
  world: World,
  course: Pick<Observations, 'phases' | 'kills' | 'duration'>,
): Promise<Observations> {
  const attempts = await world.owner.execute(sql`
    select webhook_id, count(*)::integer as attempts, count(status)::integer as answered,
      count(*) filter (where outcome = 'failed')::integer as failed
    from webhook_attempts group by webhook_id`);
  const disabled = await world.owner.execute(
    sql`select webhook_id, disabled_reason from webhooks where not enabled`,
  );
  const givenUp = await world.owner.execute(sql`
    select webhook_id, event_id, max(reason) filter (where outcome = 'given_up') as reason,
      (extract(epoch from max(attempted_at) - min(attempted_at)) * 1000)::float8 as age
    from webhook_attempts group by webhook_id, event_id having bool_or(outcome = 'given_up')`);
  if (!attempts.ok || !disabled.ok || !givenUp.ok) throw new Error('The database cannot be read.');
  const { stopped, fanOuts, lines, failures } = world.log;
  const subscriptions = course.phases.flatMap((phase) => phase.subscriptions);
  const kinds = new Map(subscriptions.map(({ webhookId, kind }) => [webhookId, kind]));
  const reports = await world.receivers.report();
  return {
    ...course,
    ledgers: reports.map((each) => ({ ...each, kind: kinds.get(each.webhookId) as ReceiverKind })),
    rows: new Map(
      attempts.value.map((row) => [
        String(row.webhook_id),
        { attempts: Number(row.attempts), answered: Number(row.answered), failed: Number(row.failed) },
      ]),
    ),
    disabled: new Map(disabled.value.map((row) => [String(row.webhook_id), String(row.disabled_reason)])),
    givenUp: givenUp.value.map((row) => ({
      webhookId: String(row.webhook_id),
      eventId: String(row.event_id),
      reason: String(row.reason),
      age: Number(row.age),
    })),
    deadLetters: await takeDeadLetters(world.sqs, world.deliveries.deadLetters.url),
    refusedEvents: await takeDeadLetters(world.sqs, world.events.deadLetters.url),
    ...{ stopped, fanOuts, lines, failures },
    lost: { fanOut: world.fanOut.lost, deliver: world.deliver.lost },
  };
}
