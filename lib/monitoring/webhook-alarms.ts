import { Duration } from 'aws-cdk-lib';
import {
  ComparisonOperator,
  MathExpression,
  SearchExpression,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import { functionMetric } from '../../domain/metrics';
import { probeMinutes } from '../../domain/probe';
import type { Webhooks } from '../webhooks/webhooks';
import type { AlarmRow, Watched } from './alarms';
import type { LogMetrics } from './log-metrics';
import { awsMetric, cloudWatchMetric, deliveryMetric, maximum, period, sum } from './metrics';
import { verifiedOfSent } from './objective';

const { GREATER_THAN_THRESHOLD, LESS_THAN_THRESHOLD } = ComparisonOperator;
const { BREACHING } = TreatMissingData;

/** What the environment's own receiver says about the probe. */
export function proofAlarms(watched: Watched): readonly AlarmRow[] {
  return [
    {
      name: 'webhook-other-address',
      description:
        'MOST SERIOUS: a genuine webhook came from an address that is not published. Receivers that check the address reject webhooks; those that trust it alone are exposed.',
      metric: cloudWatchMetric(functionMetric('check-delivery', watched.environment.name, 'OtherAddress')),
      threshold: 1,
    },
    {
      name: 'webhooks-unproven',
      description:
        "For 15 minutes no webhook passed the environment's own check of signature, time and address.",
      // Missing data alone alarms after more than three periods:
      // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html
      metric: new MathExpression(verifiedOfSent(watched)),
      comparisonOperator: LESS_THAN_THRESHOLD,
      threshold: 1,
      evaluationPeriods: 15 / probeMinutes,
      treatMissingData: BREACHING,
    },
  ];
}

/**
 * A queue that has been empty and untouched for six hours reports nothing.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-monitoring-using-cloudwatch.html
 */
export function webhookAlarms(
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
        // `0 * failed` makes the sum zero if only attempts that failed were counted (see metrics.ts).
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
export function originAlarms({ environment, webhookOrigin: origin }: Watched): readonly AlarmRow[] {
  const ofGateway = (metricName: string, options = sum) =>
    awsMetric('NATGateway', metricName, { NatGatewayId: origin.gatewayId }, options);
  const ofGateways = (metricName: string, label: string) =>
    new SearchExpression({
      expression: `SEARCH('{AWS/NATGateway,NatGatewayId} MetricName="${metricName}"', 'Sum')`,
      label: `${label} \${PROP('Dim.NatGatewayId')}`,
      period,
    });
  const reserve: AlarmRow = {
    name: 'origin-reserve-in-use',
    runbookAnchor: 'reserve-address-in-use',
    description: `Webhooks come from the reserve address, which is for emergencies only. Return to the primary address once it is free: wallet move-origin --environment ${environment.name} --zone N.`,
    // Always in ALARM while it exists: threshold 0, missing data breaching.
    metric: deliveryMetric(environment, 'Delivered'),
    condition: origin.reserve?.isInUse,
    threshold: 0,
    treatMissingData: BREACHING,
  };
  return [
    {
      name: 'egress-drops',
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
