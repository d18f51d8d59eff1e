import { evaluateMetricMath, type Series } from '../support/metric-math';
import { withSla } from '../support/rows';
import { type Resource, stackOf } from '../support/stacks';

// biome-ignore lint/suspicious/noExplicitAny: a template has no types
type Json = any;

/** Values for each 5 minutes of an hour, by metric name. An omitted metric has no data. */
type Hour = Readonly<Record<string, number | Series>>;

const gone = { NumberOfMessagesReceived: 200, NumberOfMessagesDeleted: 0 };

/** The alarms in ALARM at the end of the hour. */
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

const lanes = ['WebhookDeliveryQueue', 'WebhookRetryQueue'];

describe.each(lanes)(
  'with all messages in %s, the alarms distinguish a lost gateway or zone from failing receivers',
  (lane) => {
    const stack = stackOf(withSla);

    it.each(Object.entries(cases))('%s', (_, { hour, raised }) => {
      const names = ['deliveries-failing', 'origin-unreachable'].filter((name) => {
        const id = `MonitoringAlarms${name.replaceAll('-', '')}`;
        return isRaised(stack.named('AWS::CloudWatch::Alarm', id), hour, lane);
      });
      expect(names).toEqual(raised);
    });
  },
);

describe('the alarm on the reserve', () => {
  const alarmOf = (reserve: boolean) =>
    stackOf({ ...withSla, webhookOrigin: { reserve } })
      .all('AWS::CloudWatch::Alarm')
      .find(({ Properties }) => /-origin-reserve-in-use$/.test(Properties.AlarmName));

  it('exists only while the reserve is in use, and is then in ALARM', () => {
    const alarm = alarmOf(true) as Resource;
    expect(alarm.Condition).toBe('WebhookOriginReserveIsInUse');
    for (const hour of [{}, { Delivered: 0 }, { Delivered: 300 }]) expect(isRaised(alarm, hour)).toBe(true);
  });

  it('exists only in rows with a reserve', () => {
    expect(alarmOf(false)).toBeUndefined();
  });
});

/** Evaluates the alarm's last periods. A queue outside the lane has no data. */
function isRaised({ Properties: alarm }: Resource, hour: Hour, lane?: string): boolean {
  const queries: readonly Json[] = alarm.Metrics ?? [
    { Id: 'only', MetricStat: { Metric: alarm, Period: alarm.Period } },
    { Expression: 'only' },
  ];
  const metrics = queries.flatMap(({ Id, MetricStat }) => {
    if (!MetricStat) return [];
    const { MetricName, Dimensions } = MetricStat.Metric;
    const isElsewhere = Dimensions.some(({ Value }: Json) => {
      const queue = Value['Fn::GetAtt']?.[0];
      return lanes.includes(queue) && queue !== lane;
    });
    return [[Id, sums(isElsewhere ? undefined : hour[MetricName], MetricStat.Period / 300)]];
  });
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
