import { type Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Delivery } from '../../domain/delivery';
import type { Log } from '../shared/log';
import { webhookLogCodes } from '../webhooks/log-codes';
import type { DeliveryLog } from './deliver-webhook';

/** The namespace of the functions' own metrics in CloudWatch. */
export const metricsNamespace = 'WalletWebhooks';

/** One log line an attempt, and the metrics `Delivered`, `Failed`, `GivenUp`, `Disabled` (counts) and `Age` (of what ended, in ms). */
export function createDeliveryLog(log: Log, metrics: Metrics): DeliveryLog {
  return {
    attempted(attempt, { ageMs, retryInMs }) {
      const { attemptedAt: _, nextAttemptAt: __, ...seen } = attempt;
      const line = { logCode: webhookLogCodes.attempted, ...seen, ageMs, retryInMs };
      if (attempt.outcome === 'delivered') log.info('Webhook delivered', line);
      else log.warn('Webhook not delivered', line);

      metrics.addMetric(countOf[attempt.outcome], MetricUnit.Count, 1);
      if (attempt.outcome !== 'failed') metrics.addMetric('Age', MetricUnit.Milliseconds, ageMs);
    },
    notRecorded({ eventId, webhookId }, { kind, reason }) {
      const line = { logCode: webhookLogCodes.attemptNotRecorded, eventId, webhookId, cause: kind, reason };
      log.error('Webhook attempt not recorded', line);
    },
    disabled({ webhookId, organizationId, reason }, eventId) {
      const line = { logCode: webhookLogCodes.disabled, webhookId, organizationId, reason, eventId };
      log.warn('Webhook disabled', line);
      // What an operator disabled is no news to operators.
      if (reason === 'gone') metrics.addMetric('Disabled', MetricUnit.Count, 1);
    },
    stopped(delivery, reason) {
      const line = { logCode: webhookLogCodes.deliveryStopped, ...idsOf(delivery), reason };
      log.info('Webhook delivery stopped', line);
    },
    circuitOpen(delivery, retryInMs) {
      const line = { logCode: webhookLogCodes.circuitOpen, ...idsOf(delivery), retryInMs };
      log.info('Webhook circuit open', line);
    },
    putOff(delivery, waitMs) {
      const line = { logCode: webhookLogCodes.putOff, ...idsOf(delivery), waitMs };
      log.info('Webhook delivery put off', line);
    },
  };
}

const idsOf = ({ eventId, webhookId, deliveryId }: Delivery) => ({ eventId, webhookId, deliveryId });

const countOf = {
  delivered: 'Delivered',
  failed: 'Failed',
  disabled: 'Failed',
  given_up: 'GivenUp',
} as const;
