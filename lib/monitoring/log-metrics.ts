import { Duration, Stack } from 'aws-cdk-lib';
import { Metric, SearchExpression } from 'aws-cdk-lib/aws-cloudwatch';
import {
  FilterPattern,
  type IFilterPattern,
  type ILogGroup,
  MetricFilter,
  type MetricFilterProps,
} from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type FunctionOperation, logCodesOf, routes, tokenRefusedLogCode } from '../../domain/routes';

export const period = Duration.minutes(5);
export const sum = { period, statistic: 'Sum' };

export interface LogMetricsProps {
  readonly accessLog: ILogGroup;
  readonly authorizerLog: ILogGroup;
  readonly purgeLog: ILogGroup;
  /** Logs of the functions that put invalid messages on a dead-letter queue, by the log code of each that they put there. */
  readonly consumerLogs: Readonly<Record<string, ILogGroup>>;
  /** Logs of the functions of measured routes. */
  readonly routeLogs: { readonly [operation in FunctionOperation]?: ILogGroup };
}

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

  constructor(scope: Construct, id: string, props: LogMetricsProps) {
    super(scope, id);
    const { accessLog, authorizerLog, purgeLog, consumerLogs, routeLogs } = props;
    const metricNamespace = `WalletApi/${Stack.of(this).stackName}`;
    const count = (id: string, logGroup: ILogGroup, pattern: IFilterPattern, counter: Counter) =>
      new MetricFilter(this, id, { logGroup, filterPattern: pattern, metricNamespace, ...counter });
    // One series for each value of the last two weeks, without a list of values here.
    const search = ({ metricName, dimensions }: Required<Pick<Counter, 'metricName' | 'dimensions'>>) =>
      new SearchExpression({
        expression: `SEARCH('{"${metricNamespace}","${Object.keys(dimensions)}"} MetricName="${metricName}"', 'Sum')`,
        label: `\${PROP('Dim.${Object.keys(dimensions)}')}`,
        period,
      });
    const refused = { metricName: 'Refusals', dimensions: { code: '$.code' } };
    const responded = { metricName: 'GatewayResponses', dimensions: { type: '$.errorType' } };

    const hasCode = (logCode: string) => FilterPattern.stringValue('$.logCode', '=', logCode);
    const countRefusals = (id: string, log: ILogGroup, logCode: string) =>
      count(`${id}Refusals`, log, hasCode(logCode), refused);
    for (const [name, log] of Object.entries(routeLogs)) {
      const operation = name as FunctionOperation;
      countRefusals(routes[operation].log.title, log, logCodesOf(operation).refused);
    }
    countRefusals('Token', authorizerLog, tokenRefusedLogCode);
    this.refusals = search(refused);
    // Neither a success nor the response of a function, whose type is `-`.
    const ofGateway = FilterPattern.literal('{ $.status != "2*" && $.errorType != "-" }');
    count('GatewayResponses', accessLog, ofGateway, responded);
    this.gatewayResponses = search(responded);
    const isThrottled = FilterPattern.stringValue('$.status', '=', '429');
    this.throttled = count('Throttled', accessLog, isThrottled, { metricName: 'Throttled' }).metric(sum);
    const invalid = { metricName: 'InvalidMessages' };
    for (const [logCode, log] of Object.entries(consumerLogs)) count(logCode, log, hasCode(logCode), invalid);
    this.invalidMessages = new Metric({ namespace: metricNamespace, ...invalid, ...sum });
    this.oldestExpired = count('OldestExpired', purgeLog, FilterPattern.exists('$.oldestExpiredSeconds'), {
      metricName: 'OldestExpiredSeconds',
      metricValue: '$.oldestExpiredSeconds',
    }).metric({ period: Duration.hours(1), statistic: 'Maximum' });
  }
}

/** One dimension at most. */
type Counter = Pick<MetricFilterProps, 'metricName' | 'metricValue' | 'dimensions'>;
