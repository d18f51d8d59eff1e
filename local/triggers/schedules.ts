import { randomUUID } from 'node:crypto';
import type { EventBridgeEvent } from 'aws-lambda';
import { parseSchedule } from './schedule-expression';

export interface ScheduledRule {
  /** `rate(…)` or `cron(…)` */
  readonly expression: string;
  readonly arn: string;
  readonly region: string;
  readonly accountId: string;
  /** Gets the event, and reports its own failures. */
  run(event: ScheduledEvent): Promise<unknown>;
}

/** Source: https://docs.aws.amazon.com/lambda/latest/dg/with-eventbridge-scheduler.html */
export type ScheduledEvent = EventBridgeEvent<'Scheduled Event', Readonly<Record<string, never>>>;

/** Longer waits overflow a timer: https://nodejs.org/docs/latest-v20.x/api/timers.html#settimeoutcallback-delay-args */
const longestTimer = 2 ** 31 - 1;

/**
 * Runs a scheduled rule (`AWS::Events::Rule`) whenever it is due.
 *
 * @returns what stops it
 * @throws Error when the expression is not valid
 */
export function startSchedule(rule: ScheduledRule): () => void {
  const schedule = parseSchedule(rule.expression);
  let timer: NodeJS.Timeout | undefined;

  function waitFor(due: Date | undefined): void {
    if (!due) return;
    const left = due.getTime() - Date.now();
    timer = setTimeout(
      () => (left > longestTimer ? waitFor(due) : run(due)),
      Math.min(Math.max(left, 0), longestTimer),
    );
  }

  function run(due: Date): void {
    void rule.run({
      version: '0',
      id: randomUUID(),
      'detail-type': 'Scheduled Event',
      source: 'aws.events',
      account: rule.accountId,
      time: `${due.toISOString().slice(0, 19)}Z`,
      region: rule.region,
      resources: [rule.arn],
      detail: {},
    });
    waitFor(schedule.next(due));
  }

  waitFor(schedule.next(new Date()));
  return () => clearTimeout(timer);
}
