import { createDependencies } from '../../lambda/deliver-webhook/dependencies';
import { asOnAws } from './function-variables';

/** What the delivery function writes for CloudWatch after a delivery, a failure, the last failure and a disabling. */
export function metricsOfDelivery() {
  const { ports, metrics } = asOnAws(createDependencies);
  for (const outcome of ['delivered', 'failed', 'given_up'] as const) {
    const attempt = { eventId: 'ev-1', webhookId: 'wh-1', deliveryId: 'de-1', attemptedAt: 0, durationMs: 1 };
    ports.deliveryLog.attempted({ ...attempt, outcome, reason: 'test' }, { ageMs: 1, retryInMs: undefined });
  }
  const disabling = { webhookId: 'wh-1', organizationId: 'or-1', reason: 'gone', disabledAt: 0 };
  ports.deliveryLog.disabled(disabling, 'ev-1');
  const { _aws, ...values } = metrics.serializeMetrics() as EmbeddedMetrics;
  metrics.clearMetrics();
  return _aws.CloudWatchMetrics.flatMap(({ Namespace, Dimensions, Metrics }) =>
    Metrics.map(({ Name }) => ({
      Namespace,
      MetricName: Name,
      Dimensions: Object.fromEntries(Dimensions.flat().map((name) => [name, values[name]])),
    })),
  );
}

/** https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html */
interface EmbeddedMetrics {
  readonly _aws: {
    readonly CloudWatchMetrics: readonly {
      readonly Namespace: string;
      readonly Dimensions: readonly (readonly string[])[];
      readonly Metrics: readonly { readonly Name: string }[];
    }[];
  };
  readonly [name: string]: unknown;
}
