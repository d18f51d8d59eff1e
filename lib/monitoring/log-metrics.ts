import { Stack } from 'aws-cdk-lib';
import { Metric, SearchExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type IFilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { period, sum } from './alarms';

export interface LogMetricsProps {
  /** The API's access log: a line of JSON for each request. */
  readonly accessLog: ILogGroup;
  /** Log of the function `authorize-request`. */
  readonly authorizerLog: ILogGroup;
  /** Log of the function `delete-user-group`. */
  readonly deletionLog: ILogGroup;
}

/**
 * Metrics from log lines, where neither AWS nor a function has one. Each value of a dimension is a metric with a price, and
 * dashboards are global: a dimension has a fixed set of values, ours or API Gateway's, never a caller's input.
 */
export class LogMetrics extends Construct {
  /** Throttled requests: API Gateway has no metric for 429 alone. */
  readonly throttled: Metric;
  /** Deleted user groups. */
  readonly deletions: Metric;
  /** Refusals of the authorizer and of the deletion, by `code`. A denial is cached for a minute, and counts once in it. */
  readonly refusals: SearchExpression;
  /**
   * Refusals and failures of API Gateway itself, by the `type` of its response.
   * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
   */
  readonly gatewayResponses: SearchExpression;

  constructor(scope: Construct, id: string, { accessLog, authorizerLog, deletionLog }: LogMetricsProps) {
    super(scope, id);
    const metricNamespace = `WalletApi/${Stack.of(this).stackName}`;
    const count = (
      id: string,
      logGroup: ILogGroup,
      filterPattern: IFilterPattern,
      options: { readonly metricName?: string; readonly dimensions?: Record<string, string> } = {},
    ) => new MetricFilter(this, id, { logGroup, filterPattern, metricNamespace, metricName: id, ...options });
    // Codes of `lambda/shared/log.ts`.
    const logCode = (code: string) => FilterPattern.stringValue('$.logCode', '=', code);
    const byCode = { metricName: 'Refusals', dimensions: { code: '$.code' } };
    count('Deletions', deletionLog, logCode('USER_GROUP_DELETION_COMPLETED'));
    count('DeletionRefusals', deletionLog, logCode('USER_GROUP_DELETION_REFUSED'), byCode);
    count('TokenRefusals', authorizerLog, logCode('REQUEST_REFUSED'), byCode);
    count('Throttled', accessLog, FilterPattern.stringValue('$.status', '=', '429'));
    // Neither a success nor the response of a function, whose type is `-`.
    const ofGateway = FilterPattern.literal('{ $.status != "2*" && $.errorType != "-" }');
    count('GatewayResponses', accessLog, ofGateway, { dimensions: { type: '$.errorType' } });

    const metric = (metricName: string) => new Metric({ namespace: metricNamespace, metricName, ...sum });
    this.throttled = metric('Throttled');
    this.deletions = metric('Deletions');
    // One series for each value of the last two weeks, without a list of values here.
    const search = (name: string, dimension: string) =>
      new SearchExpression({
        expression: `SEARCH('{"${metricNamespace}","${dimension}"} MetricName="${name}"', 'Sum')`,
        label: `\${PROP('Dim.${dimension}')}`,
        period,
      });
    this.refusals = search('Refusals', 'code');
    this.gatewayResponses = search('GatewayResponses', 'type');
  }
}
