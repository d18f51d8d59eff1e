import { Duration, Stack } from 'aws-cdk-lib';
import {
  ComparisonOperator,
  MathExpression,
  Metric,
  type MetricOptions,
  SearchExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { functionMetric, type MetricName } from '../../domain/metrics';
import { budgetOf, objectiveMetrics } from '../../domain/objective';
import { probeMinutes } from '../../domain/probe';
import type { Api } from '../api/api';
import { functionRoutes, type RouteFunctions } from '../api/routes';
import { webAclMetricName } from '../api/web-acl';
import type { Dashboard } from '../dashboard/dashboard';
import type { Environment } from '../environment/schema';
import type { HandlerFunction } from '../functions/handler-function';
import type { WebhookOrigin } from '../network/webhook-origin';
import type { Webhooks } from '../webhooks/webhooks';
import type { AlarmRow } from './alarms';
import type { BackupEvents, BackupEventsProps } from './backup-events';
import { type LogMetrics, period, sum } from './log-metrics';

const { GREATER_THAN_THRESHOLD, LESS_THAN_THRESHOLD } = ComparisonOperator;
const { BREACHING } = TreatMissingData;
const maximum = { period, statistic: 'Maximum' };

/*
 * Some expressions rest on this: in a sum, a term without data counts as zero if another has data. Undocumented, and seen:
 * https://github.com/compiler-explorer/infra/pull/1661. docs/deploying.md, "First day on AWS", has a query for each.
 */

/** What is watched in a region that serves. */
export interface Watched {
  readonly environment: Environment & Required<Pick<Environment, 'objective'>>;
  readonly api: Api;
  readonly dashboard: Dashboard;
  readonly authorizeRequest: HandlerFunction;
  readonly routeFunctions: RouteFunctions;
  readonly runOperation: HandlerFunction;
  /** Of the database. */
  readonly clusterIdentifier: string;
  readonly backups: Pick<BackupEventsProps, 'vaultArn' | 'drillArn'> & { readonly vaultName: string };
  readonly webhooks: Webhooks;
  /** Sends a webhook to the environment itself, every `probeMinutes`. */
  readonly probe: LambdaFunction;
  readonly webhookOrigin: WebhookOrigin;
}

/** Every alarm of a region that serves: what docs/runbook.md has a line for. */
export const alarmTable = (
  watched: Watched,
  logMetrics: LogMetrics,
  backupEvents: BackupEvents,
): readonly AlarmRow[] => [
  ...proofAlarms(watched),
  ...apiAlarms(watched, logMetrics),
  ...functionAlarms(watched),
  ...databaseAlarms(watched, logMetrics),
  ...backupAlarms(watched, backupEvents),
  ...webhookAlarms(watched, logMetrics),
  ...originAlarms(watched),
];

const cloudWatchMetric = (
  {
    dimensions,
    ...metric
  }: ReturnType<typeof objectiveMetrics>['requests' | 'verified'] | ReturnType<typeof functionMetric>,
  options: MetricOptions,
) => new Metric({ ...metric, dimensionsMap: dimensions, ...options });

/** Sums of what the objective is measured by. */
export function objectiveSums({ name }: Environment, period: Duration) {
  const { requests, errors, verified } = objectiveMetrics(name);
  const sumOf = (metric: typeof requests | typeof verified) =>
    cloudWatchMetric(metric, { statistic: 'Sum', period });
  return { requests: sumOf(requests), errors: sumOf(errors), verified: sumOf(verified) };
}

/** What the environment's own receiver says about the probe. */
function proofAlarms({ environment, probe }: Watched): readonly AlarmRow[] {
  const probePeriod = Duration.minutes(probeMinutes);
  return [
    {
      name: 'webhook-other-address',
      description:
        'MOST SERIOUS: a genuine webhook came from an address that is not published. Receivers that check the address reject webhooks; those that trust it alone are exposed.',
      metric: cloudWatchMetric(functionMetric('check-delivery', environment.name, 'OtherAddress'), sum),
      threshold: 1,
    },
    {
      name: 'webhooks-unproven',
      description:
        "For 15 minutes no webhook passed the environment's own check of signature, time and address.",
      metric: new MathExpression({
        // Zero if probes were sent and none was verified (undocumented, as above): CloudWatch looks for missing data in more than
        // three periods.
        // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
        expression: '0 * sent + verified',
        usingMetrics: {
          sent: probe.metricInvocations({ statistic: 'Sum' }),
          verified: objectiveSums(environment, probePeriod).verified,
        },
        period: probePeriod,
      }),
      comparisonOperator: LESS_THAN_THRESHOLD,
      threshold: 1,
      evaluationPeriods: 15 / probeMinutes,
      treatMissingData: BREACHING,
    },
  ];
}

/**
 * How many times faster than the objective allows deletions fail, over a long window, and a short one that ends the alarm
 * soon after the failures: 14.4 uses two percent of 30 days' budget in an hour, 6 uses five percent in six hours.
 * https://sre.google/workbook/alerting-on-slos/#6-multiwindow-multi-burn-rate-alerts
 * CloudWatch evaluates every minute while period × periods is at most a day:
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
 */
const burnRates = [
  { pace: 'fast', threshold: 14.4, windows: { '1h': Duration.hours(1), '5m': Duration.minutes(5) } },
  { pace: 'slow', threshold: 6, windows: { '6h': Duration.hours(6), '30m': Duration.minutes(30) } },
] as const;
/** Fewer never page, however few requests there are. */
const leastErrors = 5;

function burnRateAlarms({ environment }: Watched): readonly AlarmRow[] {
  const budget = budgetOf(environment.objective.availability);
  return burnRates.flatMap(({ pace, threshold, windows }) =>
    Object.entries(windows).map(([window, period], index): AlarmRow => {
      const { requests, errors } = objectiveSums(environment, period);
      const minimum = Math.floor(leastErrors / (threshold * budget));
      const [failed, all] = [`errors${window}`, `requests${window}`];
      // The long window counts at least as many requests as make `leastErrors` burn the budget that fast.
      const counted = index === 0 ? `IF(${all} > ${minimum}, ${all}, ${minimum})` : all;
      return {
        name: `api-errors-${window}`,
        runbookAnchor: 'api-errors',
        description: `In the last ${window}, deletions failed ${threshold} times faster than the objective allows. Part of api-errors-${pace}.`,
        metric: new MathExpression({
          expression: `${failed} / (${budget} * ${counted})`,
          usingMetrics: { [failed]: errors, [all]: requests },
          period,
        }),
        threshold,
        unit: 'times the budget',
        composite: {
          name: `api-errors-${pace}`,
          description: `Deletions are failing ${threshold} times faster than the objective allows, in the last ${Object.keys(windows).join(' and the last ')}.`,
        },
      };
    }),
  );
}

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html */
function apiAlarms(watched: Watched, { throttled }: LogMetrics): readonly AlarmRow[] {
  const { environment, api, dashboard } = watched;
  const stage = api.restApi.deploymentStage;
  return [
    ...burnRateAlarms(watched),
    {
      name: 'api-latency',
      description: 'The p99 latency of the API has been two seconds or more for 15 minutes.',
      metric: stage.metricLatency({ period, statistic: 'p99' }),
      threshold: 2_000,
      evaluationPeriods: 3,
      unit: 'ms',
      context: [stage.metricIntegrationLatency({ period, statistic: 'p99', label: 'of the function' })],
    },
    {
      name: 'api-throttling',
      description: 'Requests exceed the rate limit of the stage: 100 were rejected in five minutes.',
      metric: throttled,
      threshold: 100,
    },
    {
      name: 'firewall-blocks',
      description: 'The firewall blocked 500 requests in five minutes: an attack, or false positives.',
      // https://docs.aws.amazon.com/waf/latest/developerguide/waf-metrics.html
      metric: new Metric({
        namespace: 'AWS/WAFV2',
        metricName: 'BlockedRequests',
        dimensionsMap: { WebACL: webAclMetricName(environment), Region: Stack.of(api).region, Rule: 'ALL' },
        ...sum,
      }),
      threshold: 500,
    },
    {
      name: 'dashboard-errors',
      description: 'The dashboard returned 5xx five times in five minutes.',
      metric: dashboard.restApi.deploymentStage.metricServerError(sum),
      threshold: 5,
    },
  ];
}

/**
 * Functions that crash, time out or do not start. Lambda does not count expected failures, such as `database_unavailable`, as
 * errors. https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
 */
function functionAlarms(watched: Watched): readonly AlarmRow[] {
  const { authorizeRequest, routeFunctions, runOperation, webhooks } = watched;
  const functions = [
    authorizeRequest,
    ...functionRoutes
      .filter(([, { alarm }]) => alarm === 'function-errors')
      .map(([operation]) => routeFunctions[operation]),
    runOperation,
    webhooks.fanOutEvent,
    webhooks.deliverWebhook,
    webhooks.purgeExpired,
  ];
  const throttles = functions.map(
    (lambda, index) => [`m${index}`, lambda.metricThrottles({ statistic: 'Sum' })] as const,
  );
  const scheduled = ['purge-expired'];
  const errors = functions.map((lambda): AlarmRow => {
    const { useCase: name } = lambda;
    const threshold = scheduled.includes(name) ? 1 : 3;
    return {
      name: `function-errors-${name}`,
      runbookAnchor: 'function-errors',
      description: `The function ${name} crashed or timed out ${threshold === 1 ? 'once' : `${threshold} times`} in 15 minutes.`,
      metric: lambda.metricErrors({ period: Duration.minutes(15), statistic: 'Sum' }),
      threshold,
      unit: 'in 15 minutes',
    };
  });
  return [
    ...errors,
    {
      name: 'function-throttling',
      description: "Lambda throttled invocations: the account's limit of concurrent executions is reached.",
      metric: new MathExpression({
        // Functions that were not invoked count as zero (undocumented, as above).
        expression: throttles.map(([name]) => name).join(' + '),
        usingMetrics: Object.fromEntries(throttles),
        period,
      }),
      threshold: 1,
    },
  ];
}

const rdsMetric = (metricName: string, dimensionsMap: Record<string, string>) =>
  new Metric({ namespace: 'AWS/RDS', metricName, dimensionsMap, ...maximum });

/** https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/Aurora.AuroraMonitoring.Metrics.html */
function databaseAlarms(
  { environment, clusterIdentifier }: Watched,
  { oldestExpired }: LogMetrics,
): readonly AlarmRow[] {
  const { database, throttle } = environment;
  const ofCluster = { DBClusterIdentifier: clusterIdentifier };
  const replication: AlarmRow = {
    name: 'database-replication',
    description:
      'A reader has been a second or more behind the writer for 15 minutes, or no reader is available for failover.',
    // By role, not by instance: at a failover a reader becomes the writer.
    // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/creating_alarms.html
    metric: rdsMetric('AuroraReplicaLag', { ...ofCluster, Role: 'READER' }),
    threshold: 1_000,
    evaluationPeriods: 3,
    treatMissingData: BREACHING,
    unit: 'ms behind the writer',
  };
  return [
    {
      name: 'database-capacity',
      description:
        'The database has used at least 80 percent of its maximum capacity for 15 minutes, or reports no data.',
      metric: rdsMetric('ACUUtilization', ofCluster),
      threshold: 80,
      evaluationPeriods: 3,
      // Instances report every minute: missing data means no instance.
      treatMissingData: BREACHING,
      unit: 'percent of the maximum',
    },
    {
      name: 'database-connections',
      description:
        "The database has had more connections for 15 minutes than the API's rate limit can cause.",
      metric: rdsMetric('DatabaseConnections', ofCluster),
      // A function has one connection at most. PostgreSQL's own limit is far above (5,000 at 32 capacity units).
      // https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-serverless-v2.setting-capacity.html
      threshold: throttle.burst,
      evaluationPeriods: 3,
      unit: 'connections',
    },
    {
      name: 'database-storage',
      description:
        'The database stores 500 GiB, far more than expected for its organizations and 31 days of attempts.',
      metric: rdsMetric('VolumeBytesUsed', ofCluster),
      threshold: 500 * 1024 ** 3,
      unit: 'bytes',
    },
    {
      name: 'purge-behind',
      description:
        'For three hours the hourly purge has left rows that expired six hours ago or more, or has not run.',
      metric: oldestExpired,
      threshold: 6 * 3_600,
      evaluationPeriods: 3,
      treatMissingData: BREACHING,
      unit: 's since the oldest expired',
    },
    ...(database.readers > 0 ? [replication] : []),
  ];
}

/**
 * On the copy: for Aurora a backup job only takes a temporary snapshot, and succeeds even if nothing reaches the vault.
 * https://docs.aws.amazon.com/aws-backup/latest/devguide/lag-vault-primary-backup.html
 *
 * AWS names the dimensions, not their combinations, and an alarm matches a combination; its metric of copies is documented for other
 * accounts and regions. The sum of all candidates treats those that do not exist as zero (undocumented, as above), and fires when
 * none saw a job. A copy has the name of its destination.
 * https://docs.aws.amazon.com/aws-backup/latest/devguide/cloudwatch.html
 */
function backupAlarms({ backups: { vaultName } }: Watched, events: BackupEvents): readonly AlarmRow[] {
  const completed = (jobs: 'Copy' | 'Restore', period: Duration) => {
    const metricName = `NumberOf${jobs}JobsCompleted`;
    const ofVault = { BackupVaultName: vaultName };
    const metric = (dimensionsMap: Record<string, string>) =>
      new Metric({ namespace: 'AWS/Backup', metricName, dimensionsMap, period, statistic: 'Sum' });
    return new MathExpression({
      expression: 'all + ofType + events',
      usingMetrics: {
        all: metric(ofVault),
        ofType: metric({ ...ofVault, ResourceType: 'Aurora' }),
        events: events.metric(jobs, period),
      },
      period,
    });
  };
  const missing = {
    comparisonOperator: LESS_THAN_THRESHOLD,
    threshold: 1,
    treatMissingData: BREACHING,
  };
  return [
    {
      name: 'backup-copy',
      description: 'For 28 hours no backup of the database has reached the vault that nobody can empty.',
      metric: completed('Copy', Duration.hours(1)),
      // A day, and what start and copy may vary by.
      evaluationPeriods: 28,
      ...missing,
      unit: 'in an hour; one a day is right',
    },
    {
      name: 'restore-drill',
      description: 'For six days no backup of the database has been restored as a drill.',
      metric: completed('Restore', Duration.days(1)),
      // An alarm looks back seven days at most.
      // https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
      evaluationPeriods: 6,
      ...missing,
      unit: 'in a day; one in three days is right',
    },
  ];
}

/**
 * The one alarm of a standby region: its replication lag, which is what a promotion would lose. The guide documents the
 * metric for every secondary of Aurora PostgreSQL; AWS's lab finds it by `SourceRegion`. An alarm matches the exact set of dimensions.
 * https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/aurora-global-database-disaster-recovery.html
 * https://awsauroralabsmy.com/global/cw/
 */
export const standbyReplication = (clusterIdentifier: string, sourceRegion: string): AlarmRow => ({
  name: 'standby-replication',
  description:
    'The standby in the second region has been 30 seconds or more behind for 15 minutes, or reports no data.',
  metric: rdsMetric('AuroraGlobalDBRPOLag', {
    DBClusterIdentifier: clusterIdentifier,
    SourceRegion: sourceRegion,
  }),
  threshold: 30_000,
  evaluationPeriods: 3,
  // Replication may have stopped. docs/runbook/alarms.md says what to do if it never reports without instances.
  treatMissingData: BREACHING,
});

export const deliveryMetric = (
  { name }: Environment,
  metricName: MetricName<'deliver-webhook'>,
  label?: string,
  statistic = 'Sum',
) =>
  cloudWatchMetric(functionMetric('deliver-webhook', name, metricName), {
    period,
    statistic,
    ...(label !== undefined && { label }),
  });

/**
 * A queue that has been empty and untouched for six hours reports nothing.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-monitoring-using-cloudwatch.html
 */
function webhookAlarms(
  { environment, webhooks }: Watched,
  { invalidMessages }: LogMetrics,
): readonly AlarmRow[] {
  const { events, deliveries, retries } = webhooks;
  const oldest = (name: string, { queue }: Webhooks['events'], minutes: number): AlarmRow => ({
    name: `oldest-message-${name}`,
    runbookAnchor: 'oldest-message',
    description: `The oldest message in the queue of ${name} has been waiting for ${minutes} minutes.`,
    metric: queue.metricApproximateAgeOfOldestMessage(maximum),
    threshold: 60 * minutes,
    unit: 's',
  });
  const dead = (name: string, { deadLetters }: Webhooks['events']): AlarmRow => ({
    name: `dead-letters-${name}`,
    runbookAnchor: 'dead-letters',
    description: `The dead-letter queue of ${name} has messages. SQS deletes them after 14 days.`,
    metric: deadLetters.metricApproximateNumberOfMessagesVisible(maximum),
    threshold: 1,
    unit: 'messages',
  });
  return [
    {
      name: 'deliveries-failing',
      description:
        'No webhook was delivered for 30 minutes, while at least 20 attempts failed in each 15 minutes.',
      metric: new MathExpression({
        // `0 * failed` makes the sum zero if only attempts that failed were counted (undocumented, as above).
        expression: 'IF(failed >= 20 AND 0 * failed + delivered < 1, 1, 0)',
        usingMetrics: {
          failed: deliveryMetric(environment, 'Failed'),
          delivered: deliveryMetric(environment, 'Delivered'),
        },
        period: Duration.minutes(15),
      }),
      threshold: 1,
      evaluationPeriods: 2,
      unit: '1: yes',
    },
    oldest('events', events, 15),
    oldest('deliveries', deliveries, 15),
    // A retry is delayed for up to 15 minutes on purpose.
    oldest('retries', retries, 45),
    dead('events', events),
    dead('deliveries', deliveries),
    {
      name: 'invalid-messages',
      runbookAnchor: 'dead-letters',
      // Also while an older message keeps the alarm of its queue in ALARM.
      description: 'A function put an invalid message on a dead-letter queue.',
      metric: invalidMessages,
      threshold: 1,
      unit: 'messages',
    },
  ];
}

/**
 * The NAT gateway's own metrics, every minute. Graphs search for them: there is no gateway while the origin is detached, and
 * after a move they still show the previous one. They also show the account's other gateways in the region, by id.
 * https://docs.aws.amazon.com/vpc/latest/userguide/metrics-dimensions-nat-gateway.html
 */
function originAlarms({ environment, webhookOrigin: origin }: Watched): readonly AlarmRow[] {
  const ofGateway = (metricName: string, options = sum) =>
    new Metric({
      namespace: 'AWS/NATGateway',
      metricName,
      dimensionsMap: { NatGatewayId: origin.gatewayId },
      ...options,
    });
  const ofGateways = (metricName: string, label: string) =>
    new SearchExpression({
      expression: `SEARCH('{AWS/NATGateway,NatGatewayId} MetricName="${metricName}"', 'Sum')`,
      label: `${label} \${PROP('Dim.NatGatewayId')}`,
      period,
    });
  const move = `wallet move-origin --environment ${environment.name} --zone N`;
  const reserve: AlarmRow = {
    name: 'origin-reserve-in-use',
    runbookAnchor: 'reserve-address-in-use',
    description: `Webhooks come from the reserve address, which is for emergencies only. Return to the primary address once it is free: ${move}.`,
    // Always in ALARM while it exists: threshold 0, missing data breaching.
    metric: deliveryMetric(environment, 'Delivered'),
    condition: origin.reserve?.isInUse,
    threshold: 0,
    treatMissingData: BREACHING,
  };
  return [
    {
      name: 'egress-drops',
      runbookAnchor: 'moving-the-webhook-origin',
      description:
        "The webhook origin's NAT gateway dropped more than 0.01 percent of packets for 15 minutes.",
      metric: new MathExpression({
        expression: 'IF(dropped >= 10, 100 * dropped / (outward + inward), 0)',
        usingMetrics: {
          dropped: ofGateway('PacketsDropCount'),
          outward: ofGateway('PacketsInFromSource'),
          inward: ofGateway('PacketsInFromDestination'),
        },
        period,
      }),
      condition: origin.isAttached,
      comparisonOperator: GREATER_THAN_THRESHOLD,
      threshold: 0.01,
      evaluationPeriods: 3,
      unit: 'packets in 5 minutes',
      context: [ofGateways('PacketsDropCount', 'Dropped')],
    },
    {
      name: 'egress-ports',
      description: "The webhook origin's NAT gateway had no free port for new connections for 15 minutes.",
      metric: ofGateway('ErrorPortAllocation', maximum),
      condition: origin.isAttached,
      comparisonOperator: GREATER_THAN_THRESHOLD,
      threshold: 0,
      evaluationPeriods: 3,
      context: [ofGateways('ErrorPortAllocation', 'Port allocation errors')],
    },
    ...(origin.reserve ? [reserve] : []),
  ];
}
