/** The metrics that functions write, by function. */
interface Metrics {
  /** Attempts; deliveries given up; webhooks disabled or paused; the age of completed deliveries in ms. */
  'deliver-webhook': 'Delivered' | 'Failed' | 'GivenUp' | 'Disabled' | 'Paused' | 'Age';
  /** The probe's deliveries: those that passed, and genuine ones from an address not published. */
  'check-delivery': 'Verified' | 'OtherAddress';
}

export type Measured = keyof Metrics;
export type MetricName<Service extends Measured> = Metrics[Service];

export const metricNamespace = 'WalletWebhooks';

/** A metric of a function in CloudWatch: the function's name is the value of the dimension `service`. */
export const functionMetric = <Service extends Measured>(
  service: Service,
  environment: string,
  metricName: MetricName<Service>,
) => ({ namespace: metricNamespace, metricName, dimensions: { service, environment } });
