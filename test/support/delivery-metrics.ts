import { ok } from '../../domain/result';
import { deliverWebhook } from '../../lambda/deliver-webhook/deliver-webhook';
import { createDependencies } from '../../lambda/deliver-webhook/handler';
import { asOnAws } from './function-variables';
import { recordLog } from './log';

/** The delivery function's metrics after a success, a failure, the last failure and the disabling of a webhook. */
export async function metricsOfDelivery() {
  const { ports, metrics } = asOnAws(createDependencies);
  const webhook = { url: 'https://example.com/', enabled: true, unhealthy: false, secretVersion: 1 };
  const disabling = { webhookId: 'wh-1', organizationId: 'or-1', reason: 'gone', disabledAt: 0 };
  const nothing = async () => ok(null);
  for (const [status, attempt] of [
    [200, 1],
    [500, 1],
    [500, 99],
    [410, 1],
  ] as const) {
    const delivery = {
      deliveryId: 'msg_1',
      webhookId: 'wh-1',
      eventId: 'ev-1',
      acceptedAt: 0,
      body: '{}',
      attempt,
    };
    await deliverWebhook(delivery, 'first', {
      ...ports,
      webhooks: {
        find: async () => ok(webhook),
        markUnhealthy: nothing,
        record: nothing,
        disable: async () => ok(disabling),
      },
      secrets: { secret: async () => ok(new Uint8Array(32)) },
      receivers: { post: async () => ({ answered: true, status }) },
      events: { send: nothing },
      log: recordLog(),
    });
  }
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
