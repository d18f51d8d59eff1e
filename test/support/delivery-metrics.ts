import { createDependencies } from '../../lambda/deliver-webhook/dependencies';

/** What the delivery function writes for CloudWatch after a delivery and a failure. */
export function metricsOfDelivery() {
  const { ports, metrics } = withVariables(
    {
      AWS_REGION: 'eu-central-1',
      DATABASE_ACCESS: 'data-api',
      DATABASE_NAME: 'wallet',
      DATABASE_CLUSTER_ARN: 'arn:aws:rds:eu-central-1:000000000000:cluster:test',
      DATABASE_SECRET_ARN: 'arn:aws:secretsmanager:eu-central-1:000000000000:secret:test',
      DELIVERY_QUEUE_URL: 'https://sqs.example/queue',
      DELIVERY_DEAD_LETTER_QUEUE_URL: 'https://sqs.example/dead-letters',
      WEBHOOK_SECRETS_KEY_ID: 'arn:aws:kms:eu-central-1:000000000000:key/test',
      POWERTOOLS_LOG_LEVEL: 'SILENT',
    },
    createDependencies,
  );
  for (const outcome of ['delivered', 'failed'] as const) {
    const attempt = { eventId: 'ev-1', webhookId: 'wh-1', deliveryId: 'de-1', attemptedAt: 0, durationMs: 1 };
    ports.journal.attempted({ ...attempt, outcome, reason: 'test' }, { ageMs: 1 });
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

function withVariables<Result>(variables: Readonly<Record<string, string>>, use: () => Result): Result {
  const before = { ...process.env };
  Object.assign(process.env, variables);
  try {
    return use();
  } finally {
    for (const name of Object.keys(variables)) {
      if (before[name] === undefined) delete process.env[name];
      else process.env[name] = before[name];
    }
  }
}
