import { sql } from '../../lambda/database/sql';
import type { Phase } from './phase';
import { type DeadLetter, takeDeadLetters } from './queue-contents';
import type { WebhookLedger } from './receivers/ledger';
import type { World } from './world';

/** Invocations that came to no answer, and the messages that they had. */
export interface Lost {
  readonly invocations: number;
  readonly messages: number;
}

/** All that was seen of a storm, from every side. */
export interface Observations {
  readonly phases: readonly Phase[];
  readonly kills: { readonly deliverWebhook: number; readonly fanOutEvent: number };
  /** Milliseconds. */
  readonly duration: number;
  /** What the receivers saw. */
  readonly ledgers: readonly WebhookLedger[];
  /** The rows of attempts, counted by webhook. */
  readonly rows: ReadonlyMap<
    string,
    { readonly attempts: number; readonly answered: number; readonly failed: number }
  >;
  /** Of disabled webhooks: the reason. */
  readonly disabled: ReadonlyMap<string, string>;
  readonly deadLetters: readonly DeadLetter[];
  readonly refusedEvents: readonly DeadLetter[];
  /** Deliveries that a disabled webhook stopped: the ids of webhook and event. */
  readonly stopped: ReadonlySet<string>;
  /** By event: to how many webhooks each completed fan-out sent it. */
  readonly fanOuts: ReadonlyMap<string, readonly number[]>;
  /** Log lines by code. */
  readonly lines: ReadonlyMap<string, number>;
  /** Failures of invocations and queues by their text. */
  readonly failures: ReadonlyMap<string, number>;
  readonly lost: { readonly fanOut: Lost; readonly deliver: Lost };
}

/** Gathers what is to be seen when the queues are empty. */
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
  if (!attempts.ok || !disabled.ok) throw new Error('The database cannot be read.');
  const { stopped, fanOuts, lines, failures } = world.log;
  return {
    ...course,
    ledgers: await world.receivers.report(),
    rows: new Map(
      attempts.value.map((row) => [
        String(row.webhook_id),
        { attempts: Number(row.attempts), answered: Number(row.answered), failed: Number(row.failed) },
      ]),
    ),
    disabled: new Map(disabled.value.map((row) => [String(row.webhook_id), String(row.disabled_reason)])),
    deadLetters: await takeDeadLetters(world.sqs, world.deliveries.deadLetters.url),
    refusedEvents: await takeDeadLetters(world.sqs, world.events.deadLetters.url),
    ...{ stopped, fanOuts, lines, failures },
    lost: { fanOut: world.fanOut.lost, deliver: world.deliver.lost },
  };
}
