import { Duration, Stack } from 'aws-cdk-lib';
import { Metric, SearchExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type ILogGroup, MetricFilter, type MetricFilterProps } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { logCodesOf, routes, tokenRefusedLogCode } from '../../domain/routes';
import { functionRoutes } from '../api/routes';
import type { Watched } from './alarms';
import { period, sum } from './metrics';

/**
 * Metrics from log lines, where neither AWS nor a function has one. Each value of a dimension is a metric with a price, and
 * dashboards are global: a dimension has a fixed set of values, ours or API Gateway's, never a caller's input.
 */
export class LogMetrics extends Construct {
  /** Throttled requests: API Gateway has no metric for 429 alone. */
  readonly throttled: Metric;
  /** Refusals of the authorizer and of measured routes, by `code`. A denial is cached for a minute, and counts once in it. */
  readonly refusals: SearchExpression;
  /**
   * Refusals and failures of API Gateway itself, by the `type` of its response.
   * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
   */
  readonly gatewayResponses: SearchExpression;
  /** Messages that functions put on a dead-letter queue themselves; those that a redrive policy moves are not among them. */
  readonly invalidMessages: Metric;
  /** Seconds since the oldest row expired that a run of the purge has left; 0 if it has left none. */
  readonly oldestExpired: Metric;

  constructor(scope: Construct, id: string, watched: Watched) {
    super(scope, id);
    const { environment, api, authorizeRequest, routeFunctions, webhooks } = watched;
    const { accessLog } = api;
    if (!accessLog) throw new Error(`${environment.name} is disposable: it has no access log to monitor.`);
    const metricNamespace = `WalletApi/${Stack.of(this).stackName}`;
    const count = (
      id: string,
      logGroup: ILogGroup,
      pattern: string,
      counter: Pick<MetricFilterProps, 'metricName' | 'metricValue' | 'dimensions'>,
    ) => {
      const filterPattern = FilterPattern.literal(`{ ${pattern} }`);
      return new MetricFilter(this, id, { logGroup, filterPattern, metricNamespace, ...counter });
    };
    // One series for each value of the last two weeks, without a list of values here.
    const search = (metricName: string, dimension: string) =>
      new SearchExpression({
        expression: `SEARCH('{"${metricNamespace}","${dimension}"} MetricName="${metricName}"', 'Sum')`,
        label: `\${PROP('Dim.${dimension}')}`,
        period,
      });

    const countRefusals = (id: string, log: ILogGroup, logCode: string) =>
      count(`${id}Refusals`, log, `$.logCode = "${logCode}"`, {
        metricName: 'Refusals',
        dimensions: { code: '$.code' },
      });
    for (const [operation, { isMeasured }] of functionRoutes) {
      const { logGroup } = routeFunctions[operation];
      if (isMeasured) countRefusals(routes[operation].log.title, logGroup, logCodesOf(operation).refused);
    }
    countRefusals('Token', authorizeRequest.logGroup, tokenRefusedLogCode);
    this.refusals = search('Refusals', 'code');
    // Neither a success nor the response of a function, whose type is `-`.
    count('GatewayResponses', accessLog, '$.status != "2*" && $.errorType != "-"', {
      metricName: 'GatewayResponses',
      dimensions: { type: '$.errorType' },
    });
    this.gatewayResponses = search('GatewayResponses', 'type');
    const throttled = count('Throttled', accessLog, '$.status = "429"', { metricName: 'Throttled' });
    this.throttled = throttled.metric(sum);
    const invalid = { metricName: 'InvalidMessages' };
    const { fanOutEvent, deliverWebhook } = webhooks;
    const consumers = { EVENT_REFUSED: fanOutEvent, WEBHOOK_DELIVERY_REFUSED: deliverWebhook };
    for (const [logCode, { logGroup }] of Object.entries(consumers))
      count(logCode, logGroup, `$.logCode = "${logCode}"`, invalid);
    this.invalidMessages = new Metric({ namespace: metricNamespace, ...invalid, ...sum });
    const { logGroup } = webhooks.purgeExpired;
    this.oldestExpired = count('OldestExpired', logGroup, '$.oldestExpiredSeconds = "*"', {
      metricName: 'OldestExpiredSeconds',
      metricValue: '$.oldestExpiredSeconds',
    }).metric({ period: Duration.hours(1), statistic: 'Maximum' });
  }
}
