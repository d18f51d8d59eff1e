import { missingHeadings } from '../support/documents';
import { evaluateMetricMath, type Series } from '../support/metric-math';
import { withSla } from '../support/rows';
import { type Resource, stackOf } from '../support/stacks';

// biome-ignore lint/suspicious/noExplicitAny: a template's JSON is as free as this
type Json = any;

/** What happens in each 5 minutes of an hour, by the metrics' names. A metric that is left out has no data. */
type Hour = Readonly<Record<string, number | Series>>;

const gone = { NumberOfMessagesReceived: 200, NumberOfMessagesDeleted: 0 };

/** The alarms that are raised at the end of the hour. */
const cases: Readonly<Record<string, { readonly hour: Hour; readonly raised: readonly string[] }>> = {
  'all is well': {
    hour: {
      NumberOfMessagesReceived: 300,
      NumberOfMessagesDeleted: 300,
      PacketsInFromDestination: 9_000,
      Delivered: 300,
    },
    raised: [],
  },
  'nothing is sent, and everything reports zero': {
    hour: { NumberOfMessagesReceived: 0, NumberOfMessagesDeleted: 0, PacketsInFromDestination: 0 },
    raised: [],
  },
  'nothing is sent, and nothing reports': { hour: {}, raised: [] },
  'every receiver fails': {
    hour: { ...gone, PacketsInFromDestination: 4_000, Failed: 200 },
    raised: ['deliveries-failing'],
  },
  'no receiver responds at all, and of AWS only SQS is called': {
    hour: { NumberOfMessagesReceived: 10, PacketsInFromDestination: 30, Failed: 10 },
    raised: ['deliveries-failing'],
  },
  'what waits is of disabled webhooks, and ends without a request': {
    hour: { NumberOfMessagesReceived: 40, NumberOfMessagesDeleted: 40, PacketsInFromDestination: 0 },
    raised: [],
  },
  'deliveries arrive, some fail, and the metrics of the gateway are missing': {
    hour: { NumberOfMessagesReceived: 300, NumberOfMessagesDeleted: 280, Delivered: 280, Failed: 20 },
    raised: [],
  },
  'the zone is gone, and with it the metrics of the gateway': { hour: gone, raised: ['origin-unreachable'] },
  'the zone is gone, and the function reaches the database without the gateway': {
    hour: { ...gone, Failed: 200 },
    raised: ['deliveries-failing', 'origin-unreachable'],
  },
  'connections are attempted, and nothing comes back': {
    hour: {
      ...gone,
      ConnectionAttemptCount: 800,
      ConnectionEstablishedCount: 0,
      PacketsInFromDestination: 0,
    },
    raised: ['origin-unreachable'],
  },
  'the zone is gone while one message waits, which comes back after 7.5 minutes': {
    hour: { NumberOfMessagesReceived: [1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0] },
    raised: ['origin-unreachable'],
  },
  'the zone has been gone for ten minutes': {
    hour: {
      NumberOfMessagesReceived: 200,
      NumberOfMessagesDeleted: [...Array(10).fill(200), 0, 0],
      PacketsInFromDestination: Array(10).fill(6_000),
      Delivered: Array(10).fill(200),
    },
    raised: ['origin-unreachable'],
  },
  'for five minutes nothing came back': {
    hour: {
      NumberOfMessagesReceived: 200,
      NumberOfMessagesDeleted: [...Array(10).fill(200), 0, 200],
      PacketsInFromDestination: [...Array(10).fill(6_000), 0, 6_000],
      Delivered: [...Array(10).fill(200), undefined, 200],
    },
    raised: [],
  },
};

describe('the alarms tell the gateway or its zone from receivers', () => {
  const stack = stackOf(withSla);
  const told = ['deliveries-failing', 'origin-unreachable'];

  it.each(Object.entries(cases))('%s', (_, { hour, raised }) => {
    expect(told.filter((name) => isRaised(alarmOf(name), hour))).toEqual(raised);
  });

  it('names the commands', () => {
    const { AlarmDescription } = alarmOf('origin-unreachable').Properties;
    expect(AlarmDescription).toContain(`wallet origin-status --environment ${withSla.name}.`);
    expect(AlarmDescription).toContain(`wallet move-origin --environment ${withSla.name} --zone N,`);
    expect(AlarmDescription.includes('--reserve')).toBe(Boolean(withSla.webhookOrigin?.reserve));
  });

  function alarmOf(name: string): Resource {
    return stack.named('AWS::CloudWatch::Alarm', `MonitoringAlarms${name.replaceAll('-', '')}`);
  }
});

describe('the alarm on the reserve', () => {
  const named = (reserve: boolean) =>
    stackOf({ ...withSla, webhookOrigin: { reserve } })
      .all('AWS::CloudWatch::Alarm')
      .find(({ Properties }) => /-origin-reserve-in-use$/.test(Properties.AlarmName));

  it('exists while the reserve is in use, and is raised then, whatever is delivered', () => {
    const alarm = named(true) as Resource;
    expect(alarm.Condition).toBe('WebhookOriginReserveIsInUse');
    for (const hour of [{}, { Delivered: 0 }, { Delivered: 300 }]) expect(isRaised(alarm, hour)).toBe(true);
    expect(alarm.Properties.AlarmDescription).toContain(
      `wallet move-origin --environment ${withSla.name} --zone N.`,
    );
    expect(missingHeadings(alarm.Properties.AlarmDescription)).toEqual([]);
  });

  it('is in rows with a reserve only, whose other alarm names it', () => {
    expect(named(false)).toBeUndefined();
    const { json } = stackOf({ ...withSla, webhookOrigin: { reserve: true } });
    expect(JSON.stringify(json)).toContain('with --reserve if the address does not come free');
  });
});

/** Examples of the page that `evaluateMetricMath` names. */
describe('metric math, as AWS documents it', () => {
  const none = undefined;
  const metrics = { metric1: [30, 20, 0, 0], metric2: [20, none, 20, none] };
  const branches = {
    metric1: [1, 1, 0, 0, none],
    metric2: [30, none, 0, 0, 30],
    metric3: [0, 0, 20, none, 20],
  };

  it.each<[string, Readonly<Record<string, Series>>, Series]>([
    ['(metric1 < metric2)', metrics, [0, 0, 1, 0]],
    ['(metric1 >= 30)', metrics, [1, 0, 0, 0]],
    ['(metric1 > 15 AND metric2 > 15)', metrics, [1, 0, 0, 0]],
    ['IF(metric1, metric2, metric3)', branches, [30, 0, 20, none, none]],
    ['IF(metric1, 5, metric3)', branches, [5, 5, 20, none, none]],
    ['IF(metric1, metric2, 5)', branches, [30, 0, 5, 5, none]],
    ['FILL(metric2, 10)', metrics, [20, 10, 20, 10]],
    ['metric1 + metric2', metrics, [50, 20, 20, 0]],
    ['100 / metric1 * 3', metrics, [10, 15, none, none]],
  ])('%s', (expression, given, result) => {
    expect(evaluateMetricMath(expression, given)).toEqual(result);
  });

  it('nothing else', () => {
    expect(() => evaluateMetricMath('RATE(metric1)', metrics)).toThrow('RATE');
    expect(() => evaluateMetricMath('metric1 metric2', metrics)).toThrow('Not understood');
  });
});

/** By the last of its periods, as many as it evaluates. */
function isRaised({ Properties: alarm }: Resource, hour: Hour): boolean {
  const queries: readonly Json[] = alarm.Metrics ?? [
    { Id: 'only', MetricStat: { Metric: alarm, Period: alarm.Period } },
    { Expression: 'only' },
  ];
  const metrics = queries.flatMap(({ Id, MetricStat }) =>
    MetricStat ? [[Id, sums(hour[MetricStat.Metric.MetricName], MetricStat.Period / 300)]] : [],
  );
  const { Expression } = queries.find((query) => query.Expression);
  const values = evaluateMetricMath(Expression, Object.fromEntries(metrics)).slice(-alarm.EvaluationPeriods);
  expect(alarm.ComparisonOperator).toBe('GreaterThanOrEqualToThreshold');
  const breaching = values.filter((value) =>
    value === undefined ? alarm.TreatMissingData === 'breaching' : value >= alarm.Threshold,
  );
  return breaching.length >= (alarm.DatapointsToAlarm ?? alarm.EvaluationPeriods);
}

function sums(given: number | Series | undefined, count: number): Series {
  const hour = Array.from({ length: 12 }, (_, index) => (typeof given === 'number' ? given : given?.[index]));
  return Array.from({ length: 12 / count }, (_, index) => {
    const values = hour.slice(index * count, (index + 1) * count).filter((value) => value !== undefined);
    return values.length > 0 ? values.reduce((sum, value) => sum + value, 0) : undefined;
  });
}
