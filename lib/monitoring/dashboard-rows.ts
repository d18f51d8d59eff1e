import { Duration } from 'aws-cdk-lib';
import { SearchExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { RegionApi } from '../api/region-api';
import type { Environment, Standby } from '../environment';
import type { WebhookOrigin } from '../network/webhook-origin';
import type { Webhooks } from '../webhooks/webhooks';
import { standbyLag } from './database-alarms';
import type { LogMetrics } from './log-metrics';
import type { DashboardRow } from './monitoring-dashboard';
import { type DeliveryMetricName, deliveryMetric } from './webhook-alarms';

const period = Duration.minutes(5);
const perPeriod = 'in 5 minutes';

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-and-dimensions.html */
export function apiRow({ restApi: { deploymentStage: stage } }: RegionApi): DashboardRow {
  const sum = { period, statistic: 'Sum' };
  return {
    title: 'API',
    graphs: [
      {
        title: 'Requests',
        unit: perPeriod,
        metrics: [
          stage.metricCount({ ...sum, label: 'All' }),
          stage.metricClientError({ ...sum, label: '4xx' }),
          stage.metricServerError({ ...sum, label: '5xx' }),
        ],
      },
      {
        title: 'Errors',
        unit: 'percent, or requests below a hundred',
        alarms: { 'api-errors': '5xx' },
      },
      {
        title: 'Latency',
        unit: 'ms',
        alarms: { 'api-latency': 'p99' },
        metrics: [
          stage.metricLatency({ period, statistic: 'p50', label: 'p50' }),
          stage.metricIntegrationLatency({ period, statistic: 'p99', label: 'p99 of the function' }),
        ],
      },
      {
        title: 'Kept out',
        unit: perPeriod,
        alarms: { 'api-throttling': 'Throttled', 'firewall-blocks': 'Blocked by the firewall' },
      },
    ],
  };
}

export function deletionsRow({ deletions, refusals, gatewayResponses }: LogMetrics): DashboardRow {
  return {
    title: 'Deletions and refusals',
    graphs: [
      { title: 'User groups deleted', unit: perPeriod, metrics: [deletions] },
      { title: 'Refusals by code', unit: perPeriod, metrics: [refusals] },
      { title: "API Gateway's own responses by type", unit: perPeriod, metrics: [gatewayResponses] },
    ],
  };
}

export function webhooksRow(): DashboardRow {
  const count = (name: DeliveryMetricName, label: string) => deliveryMetric(name).with({ period, label });
  const age = (statistic: string) => deliveryMetric('Age').with({ period, statistic, label: statistic });
  return {
    title: 'Webhooks',
    graphs: [
      {
        title: 'Attempts by outcome',
        unit: perPeriod,
        metrics: [
          count('Delivered', 'Delivered'),
          count('Failed', 'Failed'),
          count('GivenUp', 'Failed, and given up'),
        ],
      },
      {
        title: 'Nothing but failures',
        unit: '1: yes',
        alarms: { 'deliveries-failing': 'Nothing but failures' },
      },
      {
        title: 'Webhooks disabled by their receivers',
        unit: perPeriod,
        alarms: { 'webhook-disabled': 'Disabled' },
      },
      { title: 'Age of deliveries at their end', unit: 'ms', metrics: [age('p50'), age('p99')] },
    ],
  };
}

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html */
export function queuesRow({ events, deliveries, retries }: Webhooks): DashboardRow {
  const waiting = (label: string) => ({ period, statistic: 'Maximum', label });
  return {
    title: 'Queues',
    graphs: [
      {
        title: 'Oldest message',
        unit: 's',
        alarms: {
          'oldest-message-events': 'Events',
          'oldest-message-deliveries': 'Deliveries',
          'oldest-message-retries': 'Retries',
        },
      },
      {
        title: 'Messages that wait',
        unit: 'messages',
        metrics: [
          events.queue.metricApproximateNumberOfMessagesVisible(waiting('Events')),
          deliveries.queue.metricApproximateNumberOfMessagesVisible(waiting('Deliveries')),
          retries.queue.metricApproximateNumberOfMessagesVisible(waiting('Retries')),
          retries.queue.metricApproximateNumberOfMessagesDelayed(waiting('Retries for later')),
        ],
      },
      {
        title: 'Dead letters',
        unit: 'messages',
        alarms: { 'dead-letters-events': 'Events', 'dead-letters-deliveries': 'Deliveries' },
      },
    ],
  };
}

/**
 * By a search, not by the gateway's id: there is none while the origin is detached, and after a move the graphs still show
 * the gateway before. Other gateways of the account in the region are shown too, each by its id.
 * https://docs.aws.amazon.com/vpc/latest/userguide/metrics-dimensions-nat-gateway.html
 */
export function originRow({ reserve }: WebhookOrigin): DashboardRow {
  const ofGateways = (metricName: string, statistic: string, label: string) =>
    new SearchExpression({
      expression: `SEARCH('{AWS/NATGateway,NatGatewayId} MetricName="${metricName}"', '${statistic}')`,
      label: `${label} \${PROP('Dim.NatGatewayId')}`,
      period,
    });
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
        related: reserve ? ['origin-reserve-in-use'] : [],
      },
      {
        title: 'Ports',
        unit: 'connections at once; failures in 5 minutes',
        metrics: [
          ofGateways('ActiveConnectionCount', 'Maximum', 'Connections'),
          ofGateways('ErrorPortAllocation', 'Sum', 'No port left'),
        ],
        related: ['egress-ports'],
      },
      {
        title: 'Packets',
        unit: perPeriod,
        metrics: [
          ofGateways('PacketsOutToDestination', 'Sum', 'Sent'),
          ofGateways('PacketsInFromDestination', 'Sum', 'Came back'),
          ofGateways('PacketsDropCount', 'Sum', 'Dropped'),
        ],
        related: ['origin-unreachable', 'egress-drops'],
      },
    ],
  };
}

/** @param names of the functions as their alarms have them */
export function functionsRow(names: readonly string[]): DashboardRow {
  return {
    title: 'Functions and dashboard',
    graphs: [
      {
        title: 'Errors',
        unit: 'in 15 minutes',
        alarms: Object.fromEntries(names.map((name) => [`function-errors-${name}`, name])),
      },
      { title: 'Throttled', unit: perPeriod, alarms: { 'function-throttling': 'All functions' } },
      { title: "The dashboard's page", unit: perPeriod, alarms: { 'dashboard-errors': '5xx' } },
    ],
  };
}

/** The standby is in the graph of the readers: what both would lose. */
export function databaseRow({ database, standby }: Environment): DashboardRow {
  return {
    title: 'Database',
    graphs: [
      { title: 'Capacity used', unit: 'percent of the highest', alarms: { 'database-capacity': 'Capacity' } },
      { title: 'Connections', unit: 'connections', alarms: { 'database-connections': 'Connections' } },
      { title: 'Storage', unit: 'bytes', alarms: { 'database-storage': 'Stored' } },
      {
        title: 'Replication',
        unit: 'ms behind the writer',
        ...(database.readers > 0 && { alarms: { 'database-replication': 'Readers' } }),
        metrics: standby ? [behind(standby)] : [],
      },
    ],
  };
}

/** By a search: the cluster's name is known to the standby's own stack only. */
const behind = ({ region }: Standby) =>
  new SearchExpression({
    expression: `SEARCH('{AWS/RDS,${standbyLag.dimensionNames.join()}} MetricName="${standbyLag.metricName}"', 'Maximum')`,
    label: `Standby in ${region}`,
    period,
    searchRegion: region,
  });
