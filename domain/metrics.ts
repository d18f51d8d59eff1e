/** The metrics that functions write, by function. */
interface Metrics {
  /**
   * Attempts that succeeded or failed, deliveries given up, webhooks disabled or paused, and the age of completed deliveries in
   * ms.
   */
  'deliver-webhook': 'Delivered' | 'Failed' | 'GivenUp' | 'Disabled' | 'Paused' | 'Age';
  /**
   * Only the probe's deliveries count: `Verified` and `AgeMs` (since the probe was sent) of those that passed; `OtherAddress`
   * counts those that are genuine and fresh, but come from an address that is not published.
   */
  'check-delivery': 'Verified' | 'AgeMs' | 'OtherAddress';
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
