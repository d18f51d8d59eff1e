import { Duration } from 'aws-cdk-lib';
import {
  type CfnAlarm,
  ComparisonOperator,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Environment } from '../environment';
import type { OriginReserve, WebhookOrigin } from '../network/webhook-origin';
import type { AlarmProps, Alarms } from './alarms';
import { deliveryMetric } from './webhook-alarms';

const period = Duration.minutes(5);

export interface WatchedEgress {
  readonly environment: Environment;
  readonly origin: WebhookOrigin;
  /** Feeds the function that delivers. */
  readonly deliveries: Queue;
}

/**
 * The way out, by what the gateway itself counts, every minute.
 * https://docs.aws.amazon.com/vpc/latest/userguide/metrics-dimensions-nat-gateway.html
 */
export function watchEgress(alarms: Alarms, { environment, origin, deliveries }: WatchedEgress): void {
  const ofGateway = (metricName: string, statistic = 'Sum') =>
    new Metric({
      namespace: 'AWS/NATGateway',
      metricName,
      dimensionsMap: { NatGatewayId: origin.gatewayId },
      statistic,
      period,
    });
  const inward = ofGateway('PacketsInFromDestination');
  const add = (name: string, props: Omit<AlarmProps, 'missing'>) => {
    const alarm = alarms.add(name, {
      ...props,
      // Whether an idle gateway reports is not documented.
      missing: TreatMissingData.NOT_BREACHING,
    });
    // Without a gateway there is nothing to watch.
    (alarm.node.defaultChild as CfnAlarm).cfnOptions.condition = origin.isAttached;
  };

  add('origin-unreachable', {
    heading: 'a-zone-is-gone',
    meaning: `For ten of the last twenty minutes messages were handed out for delivery and nothing at all came back through the gateway of the webhook origin: the gateway or its zone is gone, receivers are not the cause. ${remedy(environment)}`,
    metric: new MathExpression({
      label: 'Nothing comes back',
      // Why these: docs/decisions/alarms.md. A sum counts what is missing as zero, and is itself missing where all is:
      // with `0 * received` it is zero for a gateway that has stopped to report.
      expression: 'IF(received > deleted AND 0 * received + inward + delivered < 1, 1, 0)',
      usingMetrics: {
        received: deliveries.metricNumberOfMessagesReceived({ period }),
        deleted: deliveries.metricNumberOfMessagesDeleted({ period }),
        inward,
        delivered: deliveryMetric('Delivered').with({ period }),
      },
      period,
    }),
    comparison: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 1,
    // A message that nobody could hide comes back after 7.5 minutes: one alone is in two or three of four periods.
    periods: 2,
    among: 4,
  });
  add('egress-drops', {
    heading: 'moving-the-webhook-origin',
    meaning:
      'For a quarter of an hour the gateway of the webhook origin dropped more than 0.01 percent of packets.',
    metric: new MathExpression({
      label: 'Dropped packets, percent',
      expression: 'IF(dropped >= 10, 100 * dropped / (outward + inward), 0)',
      usingMetrics: {
        dropped: ofGateway('PacketsDropCount'),
        outward: ofGateway('PacketsInFromSource'),
        inward,
      },
      period,
    }),
    comparison: ComparisonOperator.GREATER_THAN_THRESHOLD,
    threshold: 0.01,
    periods: 3,
  });
  add('egress-ports', {
    meaning: 'For a quarter of an hour the gateway of the webhook origin had no port left for connections.',
    metric: ofGateway('ErrorPortAllocation', 'Maximum'),
    comparison: ComparisonOperator.GREATER_THAN_THRESHOLD,
    threshold: 0,
    periods: 3,
  });
  if (origin.reserve) watchReserve(alarms, environment, origin.reserve);
}

/** What to run when the gateway or its zone is gone. */
function remedy({ name, webhookOrigin }: Environment): string {
  const move = `wallet move-origin --environment ${name} --zone N`;
  return `Look: wallet origin-status --environment ${name}. Move: ${move}, ${
    webhookOrigin?.reserve ? 'with --reserve if the address does not come free' : 'another zone than now'
  }.`;
}

/** Exists while the reserve is in use, and is then always raised: no count is below zero, and silence breaches too. */
function watchReserve(alarms: Alarms, { name }: Environment, { isInUse }: OriginReserve): void {
  const alarm = alarms.add('origin-reserve-in-use', {
    heading: 'reserve-address-in-use',
    meaning: `Webhooks come from the reserve address, which is for emergencies. Back to the one address once it is free: wallet move-origin --environment ${name} --zone N.`,
    metric: deliveryMetric('Delivered').with({ period }),
    comparison: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    threshold: 0,
    missing: TreatMissingData.BREACHING,
  });
  (alarm.node.defaultChild as CfnAlarm).cfnOptions.condition = isInUse;
}
