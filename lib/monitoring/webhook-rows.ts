import { Duration } from 'aws-cdk-lib';
import { MathExpression, Metric, SearchExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { Environment } from '../environment';
import type { WebhookOrigin } from '../network/webhook-origin';
import type { Webhooks } from '../webhooks/webhooks';
import {
  type AlarmProps,
  BREACHING,
  GREATER_THAN_THRESHOLD,
  maximum,
  period,
  perPeriod,
  type Row,
  sum,
} from './watched';

/** What the delivery function writes: `lambda/deliver-webhook/deliver-webhook.ts`. */
const deliveryMetric = (
  metricName: 'Delivered' | 'Failed' | 'GivenUp' | 'Disabled' | 'Age',
  options: { readonly period?: Duration; readonly statistic?: string; readonly label?: string } = sum,
) =>
  new Metric({
    namespace: 'WalletWebhooks',
    metricName,
    dimensionsMap: { service: 'deliver-webhook' },
    statistic: 'Sum',
    period,
    ...options,
  });

export function deliveriesRow(): Row {
  return {
    title: 'Webhooks',
    graphs: [
      {
        title: 'Attempts by outcome',
        unit: perPeriod,
        metrics: [
          deliveryMetric('Delivered', { label: 'Delivered' }),
          deliveryMetric('Failed', { label: 'Failed' }),
          deliveryMetric('GivenUp', { label: 'Failed, and given up' }),
        ],
      },
      {
        title: 'Nothing but failures',
        unit: '1: yes',
        alarms: [
          {
            name: 'deliveries-failing',
            description:
              'For half an hour no webhook was delivered, and at least 20 attempts failed in each quarter of it.',
            label: 'Nothing but failures',
            metric: new MathExpression({
              expression: 'IF(FILL(failed, 0) >= 20 AND FILL(delivered, 0) < 1, 1, 0)',
              usingMetrics: { failed: deliveryMetric('Failed'), delivered: deliveryMetric('Delivered') },
              period: Duration.minutes(15),
            }),
            threshold: 1,
            evaluationPeriods: 2,
          },
        ],
      },
      {
        title: 'Webhooks disabled by their receivers',
        unit: perPeriod,
        alarms: [
          {
            name: 'webhook-disabled',
            description:
              'A receiver answered 410: its webhook is disabled, and gets nothing until an operator enables it.',
            label: 'Disabled',
            metric: deliveryMetric('Disabled'),
            threshold: 1,
          },
        ],
      },
      {
        title: 'Age of deliveries at their end',
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
  const oldest = (name: string, { queue }: Webhooks['events'], minutes: number): AlarmProps => ({
    name: `oldest-message-${name}`,
    runbookAnchor: 'oldest-message',
    description: `A message has been waiting for ${minutes} minutes in the queue of ${name}.`,
    label: capitalized(name),
    metric: queue.metricApproximateAgeOfOldestMessage(maximum),
    threshold: 60 * minutes,
  });
  const dead = (name: string, { deadLetters }: Pick<Webhooks['events'], 'deadLetters'>): AlarmProps => ({
    name: `dead-letters-${name}`,
    runbookAnchor: 'dead-letters',
    description: `There are messages in the dead-letter queue of ${name}. They are deleted after 14 days.`,
    label: capitalized(name),
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
          // A retry is delayed for 15 minutes at most: what is older has waited for us.
          oldest('retries', retries, 45),
        ],
      },
      {
        title: 'Messages that wait',
        unit: 'messages',
        metrics: [
          events.queue.metricApproximateNumberOfMessagesVisible({ ...maximum, label: 'Events' }),
          deliveries.queue.metricApproximateNumberOfMessagesVisible({ ...maximum, label: 'Deliveries' }),
          retries.queue.metricApproximateNumberOfMessagesVisible({ ...maximum, label: 'Retries' }),
          retries.queue.metricApproximateNumberOfMessagesDelayed({ ...maximum, label: 'Retries for later' }),
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

const capitalized = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

/**
 * The way out, by what the gateway itself counts, every minute. Graphs find it by a search, not by its id: there is none while
 * the origin is detached, and after a move they still show the gateway before. Other gateways of the account in the region are
 * shown too, each by its id.
 * https://docs.aws.amazon.com/vpc/latest/userguide/metrics-dimensions-nat-gateway.html
 */
export function originRow(environment: Environment, origin: WebhookOrigin, { deliveries }: Webhooks): Row {
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
  // Without a gateway there is nothing to watch. Whether an idle one reports is not documented.
  const condition = origin.isAttached;
  return {
    title: 'Webhook origin',
    graphs: [
      {
        title: 'Connections',
        unit: perPeriod,
        metrics: [
          ofGateways('ConnectionAttemptCount', 'Sum', 'Attempted'),
          ofGateways('ConnectionEstablishedCount', 'Sum', 'Established'),
        ],
        alarms: origin.reserve
          ? [
              {
                name: 'origin-reserve-in-use',
                runbookAnchor: 'reserve-address-in-use',
                description: `Webhooks come from the reserve address, which is for emergencies. Back to the one address once it is free: wallet move-origin --environment ${environment.name} --zone N.`,
                metric: deliveryMetric('Delivered'),
                // Exists while the reserve is in use, and is then always in ALARM: threshold 0, missing data breaching.
                condition: origin.reserve.isInUse,
                threshold: 0,
                treatMissingData: BREACHING,
              },
            ]
          : [],
      },
      {
        title: 'Ports',
        unit: 'connections at once; failures in 5 minutes',
        metrics: [
          ofGateways('ActiveConnectionCount', 'Maximum', 'Connections'),
          ofGateways('ErrorPortAllocation', 'Sum', 'No port left'),
        ],
        alarms: [
          {
            name: 'egress-ports',
            description:
              'For a quarter of an hour the gateway of the webhook origin had no port left for connections.',
            metric: ofGateway('ErrorPortAllocation', maximum),
            condition,
            comparisonOperator: GREATER_THAN_THRESHOLD,
            threshold: 0,
            evaluationPeriods: 3,
          },
        ],
      },
      {
        title: 'Packets',
        unit: perPeriod,
        metrics: [
          ofGateways('PacketsOutToDestination', 'Sum', 'Sent'),
          ofGateways('PacketsInFromDestination', 'Sum', 'Came back'),
          ofGateways('PacketsDropCount', 'Sum', 'Dropped'),
        ],
        alarms: [
          {
            name: 'origin-unreachable',
            runbookAnchor: 'a-zone-is-gone',
            description: `For ten of the last twenty minutes messages were handed out for delivery and nothing at all came back through the gateway of the webhook origin: the gateway or its zone is gone, receivers are not the cause. ${remedy(environment)}`,
            metric: new MathExpression({
              // Why these: docs/decisions/alarms.md. A sum counts what is missing as zero, and is itself missing where all
              // is: with `0 * received` it is zero for a gateway that has stopped to report.
              expression: 'IF(received > deleted AND 0 * received + inward + delivered < 1, 1, 0)',
              usingMetrics: {
                received: deliveries.queue.metricNumberOfMessagesReceived({ period }),
                deleted: deliveries.queue.metricNumberOfMessagesDeleted({ period }),
                inward,
                delivered: deliveryMetric('Delivered'),
              },
              period,
              label: 'Nothing comes back',
            }),
            condition,
            threshold: 1,
            // A message that nobody could hide comes back after 7.5 minutes: one alone is in two or three of four periods.
            evaluationPeriods: 4,
            datapointsToAlarm: 2,
          },
          {
            name: 'egress-drops',
            runbookAnchor: 'moving-the-webhook-origin',
            description:
              'For a quarter of an hour the gateway of the webhook origin dropped more than 0.01 percent of packets.',
            metric: new MathExpression({
              expression: 'IF(dropped >= 10, 100 * dropped / (outward + inward), 0)',
              usingMetrics: {
                dropped: ofGateway('PacketsDropCount'),
                outward: ofGateway('PacketsInFromSource'),
                inward,
              },
              period,
              label: 'Dropped packets, percent',
            }),
            condition,
            comparisonOperator: GREATER_THAN_THRESHOLD,
            threshold: 0.01,
            evaluationPeriods: 3,
          },
        ],
      },
    ],
  };
}

/** What to run when the gateway or its zone is gone. */
function remedy({ name, webhookOrigin }: Environment): string {
  const move = `wallet move-origin --environment ${name} --zone N`;
  return `Look: wallet origin-status --environment ${name}. Move: ${move}, ${
    webhookOrigin?.reserve ? 'with --reserve if the address does not come free' : 'another zone than now'
  }.`;
}
