import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, SearchExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { Environment } from '../environment';
import type { WebhookOrigin } from '../network/webhook-origin';
import type { Webhooks } from '../webhooks/webhooks';
import { type AlarmRow, BREACHING, GREATER_THAN_THRESHOLD, maximum, period, type Row, sum } from './alarms';

/** Metrics from the delivery function: `lambda/deliver-webhook/deliver-webhook.ts`. */
const deliveryMetric = (
  metricName: 'Delivered' | 'Failed' | 'GivenUp' | 'Disabled' | 'Age',
  options: { readonly statistic?: string; readonly label?: string } = {},
) =>
  new Metric({
    namespace: 'WalletWebhooks',
    metricName,
    dimensionsMap: { service: 'deliver-webhook' },
    ...sum,
    ...options,
  });

export function deliveriesRow(): Row {
  const failing: AlarmRow = {
    name: 'deliveries-failing',
    description:
      'No webhook was delivered for 30 minutes, while at least 20 attempts failed in each 15 minutes.',
    metric: new MathExpression({
      expression: 'IF(FILL(failed, 0) >= 20 AND FILL(delivered, 0) < 1, 1, 0)',
      usingMetrics: { failed: deliveryMetric('Failed'), delivered: deliveryMetric('Delivered') },
      period: Duration.minutes(15),
    }),
    threshold: 1,
    evaluationPeriods: 2,
  };
  const disabled: AlarmRow = {
    name: 'webhook-disabled',
    description:
      'A receiver returned 410. Its webhook is disabled and receives nothing until an operator enables it.',
    metric: deliveryMetric('Disabled'),
    threshold: 1,
  };
  return {
    title: 'Webhooks',
    graphs: [
      {
        title: 'Attempts by outcome',
        metrics: [
          deliveryMetric('Delivered', { label: 'Delivered' }),
          deliveryMetric('Failed', { label: 'Failed' }),
          // No alarm: this count cannot distinguish one receiver that is down for three days from many, and
          // `deliveries-failing` fires days before deliveries to everybody are given up.
          deliveryMetric('GivenUp', { label: 'Given up' }),
        ],
      },
      { title: 'All attempts failing', unit: '1: yes', alarms: [failing] },
      { title: 'Webhooks disabled by their receivers', alarms: [disabled] },
      {
        title: 'Age of completed deliveries',
        unit: 'ms',
        metrics: ['p50', 'p99'].map((statistic) => deliveryMetric('Age', { statistic, label: statistic })),
      },
    ],
  };
}

/**
 * A queue that has been empty and untouched for six hours reports nothing.
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-monitoring-using-cloudwatch.html
 */
export function queuesRow({ events, deliveries, retries }: Webhooks): Row {
  const oldest = (name: string, { queue }: Webhooks['events'], minutes: number): AlarmRow => ({
    name: `oldest-message-${name}`,
    runbookAnchor: 'oldest-message',
    description: `The oldest message in the queue of ${name} has been waiting for ${minutes} minutes.`,
    metric: queue.metricApproximateAgeOfOldestMessage(maximum),
    threshold: 60 * minutes,
  });
  const dead = (name: string, { deadLetters }: Webhooks['events']): AlarmRow => ({
    name: `dead-letters-${name}`,
    runbookAnchor: 'dead-letters',
    description: `The dead-letter queue of ${name} has messages. SQS deletes them after 14 days.`,
    metric: deadLetters.metricApproximateNumberOfMessagesVisible(maximum),
    threshold: 1,
  });
  return {
    title: 'Queues',
    graphs: [
      {
        title: 'Oldest message',
        unit: 's',
        alarms: [
          oldest('events', events, 15),
          oldest('deliveries', deliveries, 15),
          // A retry is delayed for up to 15 minutes on purpose.
          oldest('retries', retries, 45),
        ],
      },
      {
        title: 'Messages waiting',
        unit: 'messages',
        metrics: [
          events.queue.metricApproximateNumberOfMessagesVisible({ ...maximum, label: 'Events' }),
          deliveries.queue.metricApproximateNumberOfMessagesVisible({ ...maximum, label: 'Deliveries' }),
          retries.queue.metricApproximateNumberOfMessagesVisible({ ...maximum, label: 'Retries' }),
          retries.queue.metricApproximateNumberOfMessagesDelayed({ ...maximum, label: 'Retries, delayed' }),
        ],
      },
      {
        title: 'Dead letters',
        unit: 'messages',
        alarms: [dead('events', events), dead('deliveries', deliveries)],
      },
    ],
  };
}

/**
 * The NAT gateway's own metrics, every minute. Graphs search for them: there is no gateway while the origin is detached, and
 * after a move they still show the previous one. They also show the account's other gateways in the region, by id.
 * https://docs.aws.amazon.com/vpc/latest/userguide/metrics-dimensions-nat-gateway.html
 */
export function originRow(environment: Environment, origin: WebhookOrigin, webhooks: Webhooks): Row {
  const ofGateways = (metricName: string, statistic: string, label: string) =>
    new SearchExpression({
      expression: `SEARCH('{AWS/NATGateway,NatGatewayId} MetricName="${metricName}"', '${statistic}')`,
      label: `${label} \${PROP('Dim.NatGatewayId')}`,
      period,
    });
  const ofGateway = (metricName: string, options = sum) =>
    new Metric({
      namespace: 'AWS/NATGateway',
      metricName,
      dimensionsMap: { NatGatewayId: origin.gatewayId },
      ...options,
    });
  const inward = ofGateway('PacketsInFromDestination');
  const { name, webhookOrigin } = environment;
  const move = `wallet move-origin --environment ${name} --zone N`;
  const ports: AlarmRow = {
    name: 'egress-ports',
    description: "The webhook origin's NAT gateway had no free port for new connections for 15 minutes.",
    metric: ofGateway('ErrorPortAllocation', maximum),
    condition: origin.isAttached,
    comparisonOperator: GREATER_THAN_THRESHOLD,
    threshold: 0,
    evaluationPeriods: 3,
  };
  const { deliveries, retries } = webhooks;
  const unreachable: AlarmRow = {
    name: 'origin-unreachable',
    runbookAnchor: 'a-zone-is-gone',
    description: `In 10 of the last 20 minutes, webhooks were attempted and no packet came back through the webhook origin's NAT gateway: the gateway or its zone has failed, not the receivers. Check: wallet origin-status --environment ${name}. Move to another zone: ${move}${
      webhookOrigin?.reserve ? ', with --reserve if the address cannot be released' : ''
    }.`,
    metric: new MathExpression({
      // Why these: docs/decisions/alarms.md. A sum treats missing terms as zero, and is missing only if all are: adding
      // `0 * (tried + retried)` makes it zero for a gateway that stopped reporting.
      expression:
        'IF(tried + retried > done + redone AND 0 * (tried + retried) + inward + delivered < 1, 1, 0)',
      usingMetrics: {
        tried: deliveries.queue.metricNumberOfMessagesReceived({ period }),
        retried: retries.queue.metricNumberOfMessagesReceived({ period }),
        done: deliveries.queue.metricNumberOfMessagesDeleted({ period }),
        redone: retries.queue.metricNumberOfMessagesDeleted({ period }),
        inward,
        delivered: deliveryMetric('Delivered'),
      },
      period,
    }),
    condition: origin.isAttached,
    threshold: 1,
    // A failed message becomes visible again after 7.5 minutes: one alone appears in two or three of four periods.
    evaluationPeriods: 4,
    datapointsToAlarm: 2,
  };
  const drops: AlarmRow = {
    name: 'egress-drops',
    runbookAnchor: 'moving-the-webhook-origin',
    description: "The webhook origin's NAT gateway dropped more than 0.01 percent of packets for 15 minutes.",
    metric: new MathExpression({
      expression: 'IF(dropped >= 10, 100 * dropped / (outward + inward), 0)',
      usingMetrics: {
        dropped: ofGateway('PacketsDropCount'),
        outward: ofGateway('PacketsInFromSource'),
        inward,
      },
      period,
    }),
    condition: origin.isAttached,
    comparisonOperator: GREATER_THAN_THRESHOLD,
    threshold: 0.01,
    evaluationPeriods: 3,
  };
  const reserve: AlarmRow[] = origin.reserve
    ? [
        {
          name: 'origin-reserve-in-use',
          runbookAnchor: 'reserve-address-in-use',
          description: `Webhooks come from the reserve address, which is for emergencies only. Return to the primary address once it is free: ${move}.`,
          // Always in ALARM while it exists: threshold 0, missing data breaching.
          metric: deliveryMetric('Delivered'),
          condition: origin.reserve.isInUse,
          threshold: 0,
          treatMissingData: BREACHING,
        },
      ]
    : [];
  return {
    title: 'Webhook origin',
    graphs: [
      {
        title: 'Connections',
        metrics: [
          ofGateways('ConnectionAttemptCount', 'Sum', 'Attempted'),
          ofGateways('ConnectionEstablishedCount', 'Sum', 'Established'),
        ],
        alarms: reserve,
      },
      {
        title: 'Ports',
        unit: 'concurrent connections; failures in 5 minutes',
        metrics: [
          ofGateways('ActiveConnectionCount', 'Maximum', 'Connections'),
          ofGateways('ErrorPortAllocation', 'Sum', 'Port allocation errors'),
        ],
        alarms: [ports],
      },
      {
        title: 'Packets',
        metrics: [
          ofGateways('PacketsOutToDestination', 'Sum', 'Sent'),
          ofGateways('PacketsInFromDestination', 'Sum', 'Received'),
          ofGateways('PacketsDropCount', 'Sum', 'Dropped'),
        ],
        alarms: [unreachable, drops],
      },
    ],
  };
}
