import { withoutSla, withSla } from '../../support/rows';
import { temporaryFolder } from '../../support/temporary-folder';
import { writeOutputs } from '../../support/wallet-command';
import { type Replies, result, useAccount } from '../account';
import { wallet } from '../region';

const account = useAccount();
const folder = temporaryFolder();
const [minute, hour, day] = [60_000, 3_600_000, 86_400_000];
const probes = 5 * minute;

const run = (row: typeof withSla, ...args: readonly string[]) => {
  const outputs = writeOutputs(folder(), { [row.stackId]: {} });
  return wallet('availability', '--environment', row.name, '--outputs', outputs, ...args);
};

interface Values {
  readonly at: readonly number[];
  readonly values: readonly number[];
}
/** CloudWatch with the sums of a metric by its name, in pages of one metric each. */
const metrics = (of: Readonly<Record<string, Values>>): Replies => ({
  'monitoring:GetMetricData': ({ input: { MetricDataQueries, NextToken = 0 } }) => {
    const index = Number(NextToken);
    const { Id, MetricStat } = MetricDataQueries[index];
    const { at = [], values = [] } = of[MetricStat.Metric.MetricName] ?? {};
    return result({
      MetricDataResults: [{ Id, Timestamps: at.map((time) => time / 1_000), Values: values }],
      ...(index + 1 < MetricDataQueries.length && { NextToken: String(index + 1) }),
    });
  },
});
const every = (from: number, until: number, value = 1): Values => {
  const at = Array.from({ length: (until - from) / probes }, (_, index) => from + index * probes);
  return { at, values: at.map(() => value) };
};
/** The start of the last period that is counted completely, and so the end of what is looked at. */
const lastPeriod = () => Math.floor(Date.now() / probes - 1) * probes;

it('counts failures of deletions, and probes that were due and not verified', async () => {
  const end = lastPeriod();
  const start = end - 10 * day;
  const verified = every(start, end);
  // Ten probes of 2,880 were not verified, one was delivered twice.
  const values = verified.values.map((_, index) => (index < 1 || index > 10 ? 1 : 0));
  const requests = { at: [end - 2 * hour, end - hour], values: [60_000, 40_000] };
  const errors = { at: [end - hour], values: [40] };
  account().answer(metrics({ Count: requests, '5XXError': errors, Verified: { ...verified, values } }));
  const { exitCode, stdout } = await run(withSla, '--json');
  expect(exitCode).toBe(0);
  const { api, webhooks } = JSON.parse(stdout);
  expect(api).toMatchObject({ objective: 0.999, share: 0.9996, total: 100_000, failed: 40 });
  // 30 days, to the full hour: 43.2 minutes may fail, of which 40 percent did.
  expect(api.budgetMinutes).toBeCloseTo(43.2, 0);
  expect(api.remainingMinutes / api.budgetMinutes).toBeCloseTo(0.6);
  // Ten missed probes are fifty minutes, of the 14.4 of ten days.
  expect(webhooks).toMatchObject({ since: new Date(start).toISOString(), total: 2_880, failed: 10 });
  expect(webhooks.remainingMinutes).toBeCloseTo(14.4 - 50);

  expect(new Set(account().calls.map(({ region }) => region))).toEqual(new Set([withSla.region]));
  const asked = account()
    .calls.flatMap(({ input }) => input.MetricDataQueries)
    .map(({ MetricStat: { Metric, Period, Stat } }) => [Metric.MetricName, Period, Stat, Metric.Dimensions]);
  const check = { Name: 'environment', Value: withSla.name };
  expect(asked).toContainEqual([
    '5XXError',
    3_600,
    'Sum',
    expect.arrayContaining([{ Name: 'Stage', Value: 'api' }]),
  ]);
  expect(asked).toContainEqual(['Verified', 300, 'Sum', expect.arrayContaining([check])]);
});

it('counts no probe before --since, and no more than were due', async () => {
  const end = lastPeriod();
  account().answer(metrics({ Verified: every(end - 20 * day, end, 2) }));
  const { webhooks } = JSON.parse((await run(withSla, '--json', '--since', '7d')).stdout);
  expect(webhooks).toMatchObject({ share: 1, failed: 0 });
  expect(Math.abs(webhooks.total - 7 * 288)).toBeLessThanOrEqual(12);
});

it('prints a table, even before the first request and probe', async () => {
  account().answer(metrics({}));
  const { exitCode, stdout } = await run(withSla, '--since', '1d');
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/API +\S+Z +99\.9 % +nothing to measure +0 of 0 deletions +1\.\d of 1\.\d/);
  expect(stdout).toMatch(/webhooks +\S+Z +99\.9 % +nothing to measure +0 of 0 probes +0\.0 of 0\.0/);
});

it('refuses a start of which CloudWatch has no sums', async () => {
  const stderr = expect.stringContaining('in the last 60 days');
  expect(await run(withSla, '--since', '61d')).toMatchObject({ exitCode: 2, stderr });
});

it('has nothing to say of an environment without an objective', async () => {
  const stderr = expect.stringContaining(`${withoutSla.name} has no service level agreement`);
  expect(await run(withoutSla)).toEqual({ exitCode: 1, stdout: '', stderr });
});
