import type { GetMetricDataOutput, MetricDataQuery } from '@aws-sdk/client-cloudwatch';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { objectiveMetrics, probesIn, standingOf } from '../../domain/objective';
import { probeMinutes } from '../../domain/probe';
import { callAwsPages } from '../shell/aws';
import { type DeployedEnvironment, environmentCommand } from '../shell/deployed-environment';
import { CommandFailed } from '../shell/failure';
import { time } from '../shell/options';
import { type Terminal, table } from '../shell/terminal';

const [hour, day] = [3_600_000, 24 * 3_600_000];
const probePeriod = probeMinutes * 60_000;
/** CloudWatch keeps sums of five minutes for 63 days. https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_GetMetricData.html */
const longestDays = 60;

interface AvailabilityOptions {
  /** ISO 8601. */
  readonly since: string;
}

export function register(program: Command, terminal: Terminal): void {
  environmentCommand<AvailabilityOptions>(program, terminal, 'availability', {
    summary: 'show the objective of a deployed environment, the share that it reached, and the budget left',
    help: `API: deletions that we did not answer with 5xx. Webhooks: periods of ${probeMinutes} minutes in which the environment verified a
probe, of those since the first probe of the last ${longestDays} days. The budget is the time for which everything could have failed.
Below zero, the objective is missed. From CloudWatch's metrics; permissions: docs/operating.md.`,
    async run(target, options, print) {
      const { environment, local } = target;
      if (local)
        throw new CommandFailed(
          `Environment ${environment.name} runs on this machine, which measures no availability.`,
          'Name the outputs of a deployed environment: --outputs outputs.json.',
        );
      if (!environment.objective)
        throw new CommandFailed(
          `Environment ${environment.name} has no service level agreement, and so no objective.`,
          'Choose one that has with --environment, or give the row both.',
        );
      const report = await measure(target, environment.objective.availability, options.since);
      print(report, () => format(report, terminal));
      if (report.webhooks.since === null)
        throw new CommandFailed(
          `No probe has run in environment ${environment.name}.`,
          `One runs every ${probeMinutes} minutes, and CloudWatch counts it within ten. If none does, see the rule and the log of ${target.output('ProbeFunctionName')}.`,
        );
    },
  }).addOption(
    new Option('--since <time>', `start: ISO 8601, or an age such as 7d, ${longestDays}d at most`)
      .argParser(startTime)
      .default(time('30d'), '30d'),
  );
}

/** Rounds down to a full hour, as CloudWatch's sums begin. */
function startTime(text: string): string {
  const start = new Date(time(text)).getTime();
  if (start < Date.now() - longestDays * day || start > Date.now())
    throw new InvalidArgumentError(`Give a time in the last ${longestDays} days, such as 30d.`);
  return new Date(start).toISOString();
}

async function measure(target: DeployedEnvironment, availability: number, since: string) {
  const now = Date.now();
  const start = Math.floor(Date.parse(since) / hour) * hour;
  // CloudWatch may not have counted the last probe yet.
  const end = Math.floor(now / probePeriod - 1) * probePeriod;
  const { verified: ofProbe, ...ofApi } = objectiveMetrics(target.environment.name);
  const earliest = now - longestDays * day;
  const { requests = [], errors = [] } = await sums(target, start, now, hour, ofApi);
  const { verified = [], invoked = [] } = await sums(target, earliest, end, probePeriod, {
    verified: ofProbe,
    invoked: {
      ...{ namespace: 'AWS/Lambda', metricName: 'Invocations' },
      dimensions: { FunctionName: target.output('ProbeFunctionName') },
    },
  });
  const total = (values: readonly Sum[]) => values.reduce((sum, { value }) => sum + value, 0);
  // None was due before the environment, or its probe, existed.
  const first = Math.min(...invoked.map(({ at }) => at));
  const probesSince = Math.max(start, Math.min(first, end));
  const due = probesIn(end - probesSince);
  // Once in a period: SQS may deliver a probe twice.
  const proven = verified.filter(({ at, value }) => at >= probesSince && value > 0).length;
  return {
    environment: target.environment.name,
    since: new Date(start).toISOString(),
    api: standingOf(availability, (now - start) / 60_000, total(requests), total(errors)),
    webhooks: {
      /** `null` before the first probe. */
      since: invoked.length > 0 ? new Date(probesSince).toISOString() : null,
      ...standingOf(availability, due * probeMinutes, due, due - proven),
    },
  };
}

type Metric = Readonly<Record<'namespace' | 'metricName', string>> & {
  readonly dimensions: Readonly<Record<string, string>>;
};

interface Sum {
  /** Start of its period. Milliseconds since 1970. */
  readonly at: number;
  readonly value: number;
}

/** Sums by period, of the periods that have data. */
async function sums(
  target: DeployedEnvironment,
  start: number,
  end: number,
  period: number,
  metrics: Readonly<Record<string, Metric>>,
): Promise<Readonly<Record<string, readonly Sum[]>>> {
  const { CloudWatch } = await import('@aws-sdk/client-cloudwatch');
  const client = new CloudWatch({ ...target.clientSettings('cloudwatch'), maxAttempts: 8 });
  const MetricDataQueries = Object.entries(metrics).map(
    ([Id, { namespace, metricName, dimensions }]): MetricDataQuery => ({
      Id,
      MetricStat: {
        Metric: {
          Namespace: namespace,
          MetricName: metricName,
          Dimensions: Object.entries(dimensions).map(([Name, Value]) => ({ Name, Value })),
        },
        Period: period / 1_000,
        Stat: 'Sum',
      },
    }),
  );
  const input = { MetricDataQueries, StartTime: new Date(start), EndTime: new Date(end) };
  const pages: GetMetricDataOutput[] = await callAwsPages(client, 'getMetricData', input);
  const results = pages.flatMap(({ MetricDataResults = [] }) => MetricDataResults);
  return Object.fromEntries(
    Object.keys(metrics).map((id) => [
      id,
      results
        .filter(({ Id }) => Id === id)
        .flatMap(({ Timestamps = [], Values = [] }) =>
          Timestamps.map((at, index) => ({ at: at.getTime(), value: Values[index] ?? 0 })),
        ),
    ]),
  );
}

function format(
  { environment, api, webhooks, since }: Awaited<ReturnType<typeof measure>>,
  terminal: Terminal,
): string {
  const percent = (share: number | null) =>
    share === null ? 'nothing to measure' : `${Number((100 * share).toFixed(4))} %`;
  const row = (part: string, from: string, what: string, standing: typeof api) => {
    const { objective, share, total, failed, budgetMinutes, remainingMinutes } = standing;
    const left = `${remainingMinutes.toFixed(1)} of ${budgetMinutes.toFixed(1)}`;
    return [part, from, percent(objective), percent(share), `${failed} of ${total} ${what}`, left];
  };
  const rows = [
    [environment.toUpperCase(), 'SINCE', 'OBJECTIVE', 'SHARE', 'FAILED', 'MINUTES OF BUDGET LEFT'],
    row('API', since, 'deletions', api),
    row('webhooks', webhooks.since ?? 'no probe has run', 'probes', webhooks),
  ];
  return table(rows, terminal);
}
