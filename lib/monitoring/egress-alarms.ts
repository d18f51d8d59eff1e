import { Duration } from 'aws-cdk-lib';
import {
  type CfnAlarm,
  ComparisonOperator,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { WebhookOrigin } from '../network/webhook-origin';
import type { AlarmProps, Alarms } from './alarms';

const period = Duration.minutes(5);

/**
 * The way out, by what the gateway itself counts. Besides receivers, every delivery calls AWS by this way, so that
 * receivers who do not answer are not enough to raise the first alarm.
 * https://docs.aws.amazon.com/vpc/latest/userguide/metrics-dimensions-nat-gateway.html
 */
export function watchEgress(alarms: Alarms, origin: WebhookOrigin): void {
  const ofGateway = (metricName: string, statistic = 'Sum') =>
    new Metric({
      namespace: 'AWS/NATGateway',
      metricName,
      dimensionsMap: { NatGatewayId: origin.gatewayId },
      statistic,
      period,
    });
  const add = (name: string, props: Omit<AlarmProps, 'missing' | 'periods'>) => {
    const alarm = alarms.add(name, {
      ...props,
      periods: 3,
      // Whether an idle gateway reports is not documented. A dead one shows in the age of messages.
      missing: TreatMissingData.NOT_BREACHING,
    });
    // Without a gateway there is nothing to watch.
    (alarm.node.defaultChild as CfnAlarm).cfnOptions.condition = origin.isAttached;
  };

  add('egress-connections', {
    heading: 'moving-the-webhook-origin',
    meaning: 'For a quarter of an hour not a tenth of the connections through the webhook origin came about.',
    metric: new MathExpression({
      label: 'Connections that came about, percent',
      expression: 'IF(attempts >= 10, 100 * established / attempts, 100)',
      usingMetrics: {
        attempts: ofGateway('ConnectionAttemptCount'),
        established: ofGateway('ConnectionEstablishedCount'),
      },
      period,
    }),
    comparison: ComparisonOperator.LESS_THAN_THRESHOLD,
    threshold: 10,
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
        inward: ofGateway('PacketsInFromDestination'),
      },
      period,
    }),
    comparison: ComparisonOperator.GREATER_THAN_THRESHOLD,
    threshold: 0.01,
  });
  add('egress-ports', {
    meaning: 'For a quarter of an hour the gateway of the webhook origin had no port left for connections.',
    metric: ofGateway('ErrorPortAllocation', 'Maximum'),
    comparison: ComparisonOperator.GREATER_THAN_THRESHOLD,
    threshold: 0,
  });
}
