import { Stack } from 'aws-cdk-lib';
import { Metric, SearchExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type IFilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { period, sum } from './watched';

export interface LogMetricsProps {
  /** Of the API: a line of JSON for each request. */
  readonly accessLog: ILogGroup;
  /** Of the function `authorize-request`. */
  readonly authorizerLog: ILogGroup;
  /** Of the function `delete-user-group`. */
  readonly deletionLog: ILogGroup;
}

/**
 * Counts of log lines, where neither AWS nor a function counts. Each value of a dimension is a metric with a price, and
 * dashboards are global: dimensions are closed lists, of ours or of API Gateway, never what a caller writes.
 */
export class LogMetrics extends Construct {
  /** Requests that the throttle refused: API Gateway has no metric for 429 alone. */
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
    const namespace = `WalletApi/${Stack.of(this).stackName}`;
    const count = (
      id: string,
      logGroup: ILogGroup,
      filterPattern: IFilterPattern,
      name = id,
      dimensions?: Record<string, string>,
    ) =>
      new MetricFilter(this, id, {
        logGroup,
        filterPattern,
        metricNamespace: namespace,
        metricName: name,
        ...(dimensions && { dimensions }),
      });
    // Codes of `lambda/shared/log.ts`.
    const code = { code: '$.code' };
    count('Deletions', deletionLog, logCode('USER_GROUP_DELETION_COMPLETED'));
    count('DeletionRefusals', deletionLog, logCode('USER_GROUP_DELETION_REFUSED'), 'Refusals', code);
    count('TokenRefusals', authorizerLog, logCode('REQUEST_REFUSED'), 'Refusals', code);
    count('Throttled', accessLog, FilterPattern.stringValue('$.status', '=', '429'));
    count('GatewayResponses', accessLog, ofGateway, 'GatewayResponses', { type: '$.errorType' });

    this.throttled = new Metric({ namespace, metricName: 'Throttled', ...sum });
    this.deletions = new Metric({ namespace, metricName: 'Deletions', ...sum });
    // One series for each value that was seen in the last two weeks: no list of values here that could grow old.
    const each = (name: string, dimension: string) =>
      new SearchExpression({
        expression: `SEARCH('{"${namespace}","${dimension}"} MetricName="${name}"', 'Sum')`,
        label: `\${PROP('Dim.${dimension}')}`,
        period,
      });
    this.refusals = each('Refusals', 'code');
    this.gatewayResponses = each('GatewayResponses', 'type');
  }
}

const logCode = (code: string) => FilterPattern.stringValue('$.logCode', '=', code);

/** Neither a success nor a response of a function, which has no type: `-`. */
const ofGateway = FilterPattern.literal('{ $.status != "2*" && $.errorType != "-" }');
