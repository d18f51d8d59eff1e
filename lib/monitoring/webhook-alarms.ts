import { Duration } from 'aws-cdk-lib';
import { ComparisonOperator, MathExpression, Metric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { Webhooks } from '../webhooks/webhooks';
import type { Alarms } from './alarms';

const period = Duration.minutes(5);
const comparison = ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD;
// A queue that has been empty and untouched for six hours reports nothing.
// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-monitoring-using-cloudwatch.html
const missing = TreatMissingData.NOT_BREACHING;

/** Webhooks on their way: what waits too long, what cannot be read, what fails everywhere, what was disabled. */
export function watchWebhooks(alarms: Alarms, { events, deliveries, retries }: Webhooks): void {
  for (const [name, { deadLetters }] of Object.entries({ events, deliveries })) {
    alarms.add(`dead-letters-${name}`, {
      heading: 'dead-letters',
      meaning: `There are messages in the dead-letter queue of ${name}. They are deleted after 14 days.`,
      metric: deadLetters.metricApproximateNumberOfMessagesVisible({ period, statistic: 'Maximum' }),
      comparison,
      threshold: 1,
      missing,
    });
  }
  const longest = {
    events: { queue: events.queue, minutes: 15 },
    deliveries: { queue: deliveries.queue, minutes: 15 },
    // A retry is delayed for 15 minutes at most: what is older has waited for us.
    retries: { queue: retries.queue, minutes: 45 },
  };
  for (const [name, { queue, minutes }] of Object.entries(longest)) {
    alarms.add(`oldest-message-${name}`, {
      heading: 'oldest-message',
      meaning: `A message has been waiting for ${minutes} minutes in the queue of ${name}.`,
      metric: queue.metricApproximateAgeOfOldestMessage({ period, statistic: 'Maximum' }),
      comparison,
      threshold: Duration.minutes(minutes).toSeconds(),
      missing,
    });
  }
  alarms.add('webhook-disabled', {
    meaning:
      'A receiver answered 410: its webhook is disabled, and gets nothing until an operator enables it.',
    metric: deliveryMetric('Disabled').with({ period }),
    comparison,
    threshold: 1,
    missing,
  });
  alarms.add('deliveries-failing', {
    meaning:
      'For half an hour no webhook was delivered, and at least 20 attempts failed in each quarter of it.',
    metric: new MathExpression({
      label: 'Nothing but failures',
      expression: 'IF(FILL(failed, 0) >= 20 AND FILL(delivered, 0) < 1, 1, 0)',
      usingMetrics: { failed: deliveryMetric('Failed'), delivered: deliveryMetric('Delivered') },
      period: Duration.minutes(15),
    }),
    comparison,
    threshold: 1,
    periods: 2,
    missing,
  });
}

export type DeliveryMetricName = 'Delivered' | 'Failed' | 'GivenUp' | 'Disabled' | 'Age';

/** What the delivery function writes: `lambda/deliver-webhook/deliver-webhook.ts`. */
export function deliveryMetric(metricName: DeliveryMetricName): Metric {
  return new Metric({
    namespace: 'WalletWebhooks',
    metricName,
    dimensionsMap: { service: 'deliver-webhook' },
    statistic: 'Sum',
  });
}
