import { Cron } from 'croner';

/** When a scheduled rule is due. */
export interface Schedule {
  /** The first moment after `after` at which it is due; undefined when there is none. */
  next(after: Date): Date | undefined;
}

const minute = 60_000;
const units: Readonly<Record<string, number>> = { minute, hour: 60 * minute, day: 24 * 60 * minute };

/** What Croner takes and EventBridge does not. A number after a slash is a step. */
const wrongWeekday = /[089]/;
const wrongYear = /(?<![/\d])(?!(19[789]|2[01]\d)\d(?!\d))\d+/;

/**
 * Reads the schedule of an `AWS::Events::Rule`: `rate(…)` or `cron(…)`, in UTC.
 *
 * Source: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html
 *
 * @throws Error with the expression and the reason
 */
export function parseSchedule(expression: string): Schedule {
  const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  if (unit) return { next: (after) => new Date(after.getTime() + Number(count) * (units[unit] as number)) };
  const fields = /^cron\((.*)\)$/.exec(expression)?.[1]?.trim().split(/\s+/) ?? [];
  if (fields.length !== 6) throw new Error(`${expression} is no rate(…) and no cron(…) of six fields.`);
  const [weekday = '', year = ''] = fields.slice(4);
  if (wrongWeekday.test(weekday)) throw new Error(`${expression}: weekdays are 1 (Sunday) to 7.`);
  if (wrongYear.test(year)) throw new Error(`${expression}: years are 1970 to 2199.`);
  try {
    // Croner's first field is the second. `sloppyRanges` takes 5/15, `domAndDow` both days where neither is `?`.
    const cron = new Cron(`0 ${fields.join(' ')}`, {
      mode: '7-part',
      timezone: 'UTC',
      alternativeWeekdays: true,
      sloppyRanges: true,
      domAndDow: true,
    });
    return { next: (after) => cron.nextRun(after) ?? undefined };
  } catch (error) {
    throw new Error(`${expression}: ${(error as Error).message}`);
  }
}
