import fc from 'fast-check';
import { parseSchedule } from '../../../local/triggers/schedule-expression';
import { type ScheduledEvent, startSchedule } from '../../../local/triggers/schedules';

const next = (expression: string, after: string) =>
  parseSchedule(expression).next(new Date(after))?.toISOString();

it.each([
  ['rate(1 minute)', '2026-11-20T10:00:30Z', '2026-11-20T10:01:30.000Z'],
  ['rate(2 hours)', '2026-11-20T23:00:00Z', '2026-11-21T01:00:00.000Z'],
  ['rate(1 day)', '2026-12-31T00:00:00Z', '2027-01-01T00:00:00.000Z'],
  ['cron(17 3 * * ? *)', '2026-11-20T03:16:59Z', '2026-11-20T03:17:00.000Z'],
  ['cron(17 3 * * ? *)', '2026-11-20T03:17:00Z', '2026-11-21T03:17:00.000Z'],
  ['cron(0/20 8-9 ? * MON-FRI *)', '2026-11-20T09:40:00Z', '2026-11-23T08:00:00.000Z'],
  ['cron(0 0 29 FEB ? *)', '2026-11-20T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ['cron(5,35 * * 1,7 ? 2027)', '2026-11-20T00:00:00Z', '2027-01-01T00:05:00.000Z'],
  ['cron(0 12 L * ? *)', '2026-11-20T00:00:00Z', '2026-11-30T12:00:00.000Z'],
  ['cron(0 12 1W * ? *)', '2027-04-29T00:00:00Z', '2027-05-03T12:00:00.000Z'],
  ['cron(0 12 ? * 3#2 *)', '2026-11-20T00:00:00Z', '2026-12-08T12:00:00.000Z'],
  ['cron(0 12 ? * 3L *)', '2026-11-20T00:00:00Z', '2026-11-24T12:00:00.000Z'],
  ['cron(0 0 1 1 ? 2199)', '2026-11-20T00:00:00Z', '2199-01-01T00:00:00.000Z'],
  ['cron(0 0 1 1 ? 2020)', '2026-11-20T00:00:00Z', undefined],
])('%s after %s is due at %s', (expression, after, due) => {
  expect(next(expression, after)).toBe(due);
});

it.each([
  '',
  'every day',
  'rate(five minutes)',
  'cron(0 0 * * *)',
  'cron(60 0 * * ? *)',
  'cron(0 0 ? * 0 *)',
  'cron(0 0 ? * MON,8 *)',
  'cron(0 0 1 1 ? 1969)',
  'cron(0 0 1 1 ? 2026-2200)',
])('%j is refused', (expression) => {
  expect(() => parseSchedule(expression)).toThrow(expression);
});

it('is due at the minute and hour that it states, the first time after any moment', () => {
  const moment = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(fc.nat(59), fc.nat(23), moment, (minutes, hours, after) => {
      const due = parseSchedule(`cron(${minutes} ${hours} * * ? *)`).next(after) as Date;
      expect([due.getUTCMinutes(), due.getUTCHours(), due.getUTCSeconds()]).toEqual([minutes, hours, 0]);
      const wait = due.getTime() - after.getTime();
      expect(wait > 0 && wait <= 24 * 60 * 60_000).toBe(true);
    }),
  );
});

describe('a scheduled rule', () => {
  beforeEach(() => jest.useFakeTimers({ now: new Date('2026-11-20T03:00:00Z') }));
  afterEach(() => jest.useRealTimers());

  const start = (expression: string) => {
    const events: ScheduledEvent[] = [];
    const rule = { arn: 'arn:rule', region: 'eu-central-1', accountId: '000000000000' };
    const stop = startSchedule({ expression, ...rule, run: async (event) => events.push(event) });
    return { events, stop };
  };

  it('hands the function an event each time that it is due, until it is stopped', () => {
    const { events, stop } = start('cron(17 3 * * ? *)');
    jest.advanceTimersByTime(16 * 60_000);
    expect(events).toEqual([]);
    jest.advanceTimersByTime(48 * 60 * 60_000);
    expect(events.map(({ time }) => time)).toEqual(['2026-11-20T03:17:00Z', '2026-11-21T03:17:00Z']);
    expect(events[0]).toMatchObject({
      'detail-type': 'Scheduled Event',
      source: 'aws.events',
      resources: ['arn:rule'],
    });
    stop();
    jest.advanceTimersByTime(48 * 60 * 60_000);
    expect(events).toHaveLength(2);
  });

  it('waits longer than a timer can', () => {
    const { events, stop } = start('cron(0 0 1 2 ? *)');
    jest.advanceTimersByTime(60 * 24 * 60 * 60_000);
    expect(events).toEqual([]);
    jest.advanceTimersByTime(14 * 24 * 60 * 60_000);
    expect(events.map(({ time }) => time)).toEqual(['2027-02-01T00:00:00Z']);
    stop();
  });
});
