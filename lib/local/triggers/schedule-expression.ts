/** When a scheduled rule is due. */
export interface Schedule {
  /** The first moment after `after` at which it is due; undefined when there is none within four years. */
  next(after: Date): Date | undefined;
}

const minute = 60_000;
const units: Readonly<Record<string, number>> = { minute, hour: 60 * minute, day: 24 * 60 * minute };

/** The fields of a cron expression in their order: lowest and highest value, and names of values from the lowest on. */
const fields = [
  { name: 'minutes', lowest: 0, highest: 59, names: [] },
  { name: 'hours', lowest: 0, highest: 23, names: [] },
  { name: 'day of month', lowest: 1, highest: 31, names: [] },
  {
    name: 'month',
    lowest: 1,
    highest: 12,
    names: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
  },
  { name: 'day of week', lowest: 1, highest: 7, names: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] },
  { name: 'year', lowest: 1970, highest: 2199, names: [] },
] as const;
type Field = (typeof fields)[number];

/**
 * Reads the schedule of an `AWS::Events::Rule`: `rate(…)` or `cron(…)`, in UTC. `L`, `W` and `#` are not served.
 *
 * Source: https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html
 *
 * @throws Error that names the expression and what is wrong in it
 */
export function parseSchedule(expression: string): Schedule {
  const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  if (unit) return every(Number(count) * (units[unit] as number));
  const [, cron] = /^cron\((.*)\)$/.exec(expression) ?? [];
  const texts = cron?.trim().split(/\s+/) ?? [];
  if (texts.length !== fields.length)
    throw new Error(`${expression} is no rate(…) and no cron(…) of six fields.`);
  const allowed = fields.map((field, index) => parseField(field, texts[index] as string, expression));
  return { next: (after) => firstMatch(allowed, after) };
}

function every(milliseconds: number): Schedule {
  return { next: (after) => new Date(after.getTime() + milliseconds) };
}

/** The values that a field allows. */
function parseField(field: Field, text: string, expression: string): ReadonlySet<number> {
  const values = new Set<number>();
  for (const part of text.toUpperCase().split(',')) {
    const [range = '', step = '1'] = part.split('/');
    const [from, to = part.includes('/') ? String(field.highest) : from] =
      range === '*' || range === '?' ? [String(field.lowest), String(field.highest)] : range.split('-');
    const [first, last, by] = [numberOf(field, from), numberOf(field, to), Number(step)];
    if (!(first >= field.lowest && last <= field.highest && first <= last && by >= 1)) {
      throw new Error(`${expression}: ${part} is not served as a ${field.name}.`);
    }
    for (let value = first; value <= last; value += by) values.add(value);
  }
  return values;
}

function numberOf({ lowest, names }: Field, text = ''): number {
  const named = (names as readonly string[]).indexOf(text);
  return named >= 0 ? named + lowest : /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

function firstMatch(allowed: readonly ReadonlySet<number>[], after: Date): Date | undefined {
  const [minutes, hours, daysOfMonth, months, daysOfWeek, years] = allowed;
  const day = new Date(Date.UTC(after.getUTCFullYear(), after.getUTCMonth(), after.getUTCDate()));
  for (let days = 0; days < 4 * 366; days += 1, day.setUTCDate(day.getUTCDate() + 1)) {
    const isDue =
      years?.has(day.getUTCFullYear()) &&
      months?.has(day.getUTCMonth() + 1) &&
      daysOfMonth?.has(day.getUTCDate()) &&
      daysOfWeek?.has(day.getUTCDay() + 1);
    if (!isDue) continue;
    for (const hour of [...(hours ?? [])].sort(byValue)) {
      for (const minuteOfHour of [...(minutes ?? [])].sort(byValue)) {
        const moment = new Date(day.getTime() + hour * 60 * minute + minuteOfHour * minute);
        if (moment > after) return moment;
      }
    }
  }
  return undefined;
}

const byValue = (a: number, b: number): number => a - b;
