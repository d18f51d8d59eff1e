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
  const outputs = writeOutputs(folder(), { [row.stackId]: { ProbeFunctionName: 'Probe-1' } });
  return wallet('availability', '--environment', row.name, '--outputs', outputs, ...args);
};

type Sums = readonly (readonly [at: number, value: number])[];
/** CloudWatch with the sums of a metric by its name, in pages of one metric each. */
const metrics = (of: Readonly<Record<string, Sums>>): Replies => ({
  'monitoring:GetMetricData': ({ input: { MetricDataQueries, NextToken = 0 } }) => {
    const { Id, MetricStat } = MetricDataQueries[NextToken];
    const sums = of[MetricStat.Metric.MetricName] ?? [];
    const [Timestamps, Values] = [sums.map(([at]) => at / 1_000), sums.map(([, value]) => value)];
    const next = Number(NextToken) + 1;
    const NextPage = next < MetricDataQueries.length ? String(next) : undefined;
    return result({ MetricDataResults: [{ Id, Timestamps, Values }], NextToken: NextPage });
  },
});
/** @param value of the nth probe. @default - one */
const every = (from: number, until: number, value = (_nth: number) => 1): Sums =>
  Array.from({ length: (until - from) / probes }, (_, index) => [from + index * probes, value(index)]);
/** The start of the last period that is counted completely, and so the end of what is looked at. */
const lastPeriod = () => Math.floor(Date.now() / probes - 1) * probes;

it('counts failures of deletions, and probes that were due and not verified', async () => {
  const end = lastPeriod();
  const start = end - 10 * day;
  // Ten probes of 2,880 were not verified, which those that SQS delivers twice do not make up for.
  const Verified = every(start, end, (nth) => (nth < 1 || nth > 10 ? 1 + (nth % 2) : 0));
  const Count: Sums = [
    [end - 2 * hour, 60_000],
    [end - hour, 40_000],
  ];
  account().answer(
    metrics({ Count, '5XXError': [[end - hour, 40]], Verified, Invocations: every(start, end) }),
  );
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
  const dimension = (Name: string, Value: string) => expect.arrayContaining([{ Name, Value }]);
  expect(asked).toContainEqual(['5XXError', 3_600, 'Sum', dimension('Stage', 'api')]);
  expect(asked).toContainEqual(['Verified', 300, 'Sum', dimension('environment', withSla.name)]);
  expect(asked).toContainEqual(['Invocations', 300, 'Sum', [{ Name: 'FunctionName', Value: 'Probe-1' }]]);
});

it.each([
  [
    1,
    'and all of those due',
    every(lastPeriod() - 20 * day, lastPeriod(), (nth) => (nth < 12 * 288 ? 1 : 2)),
  ],
  [
    0,
    'of which none was verified',
    every(lastPeriod() - 20 * day, lastPeriod(), (nth) => (nth < 12 * 288 ? 1 : 0)),
  ],
  [0, 'of which none ever was', []],
])('counts no probe before --since: share %d, %s', async (share, _, Verified) => {
  const end = lastPeriod();
  account().answer(metrics({ Verified, Invocations: every(end - 20 * day, end) }));
  const { webhooks } = JSON.parse((await run(withSla, '--json', '--since', '7d')).stdout);
  expect(Math.round(100 * webhooks.share)).toBe(100 * share);
  expect(Math.abs(webhooks.total - 7 * 288)).toBeLessThanOrEqual(12);
});

it('prints a table, even before the first request and probe', async () => {
  account().answer(metrics({}));
  const { exitCode, stdout, stderr } = await run(withSla, '--since', '1d');
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('No probe has run')]);
  expect(stdout).toMatch(/API +\S+Z +99\.9 % +nothing to measure +0 of 0 deletions +1\.\d of 1\.\d/);
  expect(stdout).toMatch(
    /webhooks +no probe has run +99\.9 % +nothing to measure +0 of 0 probes +0\.0 of 0\.0/,
  );
});

it('has nothing to say of an environment without an objective', async () => {
  const stderr = expect.stringContaining(`${withoutSla.name} has no service level agreement`);
  expect(await run(withoutSla)).toEqual({ exitCode: 1, stdout: '', stderr });
});
