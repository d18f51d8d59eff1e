import { Duration, Stack } from 'aws-cdk-lib';
import { Metric, SearchExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { FilterPattern, type IFilterPattern, type ILogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

export interface LogMetricsProps {
  /** Of the API: a line of JSON for each request. */
  readonly accessLog: ILogGroup;
  /** Of the function `authorize-request`. */
  readonly authorizerLog: ILogGroup;
  /** Of the function `delete-user-group`. */
  readonly deletionLog: ILogGroup;
}

const period = Duration.minutes(5);

/**
 * Counts of log lines, where neither AWS nor a function counts. Each value of a dimension is a metric with a price, and
 * dashboards are global: dimensions are closed lists, of ours or of API Gateway, never what a caller writes.
 */
export class LogMetrics extends Construct {
  /** Deleted user groups. */
  readonly deletions: Metric;
  /** Refusals of the authorizer and of the deletion, by `code`. A denial is cached for a minute, and counts once in it. */
  readonly refusals: SearchExpression;
  /**
   * Refusals and failures of API Gateway itself, by the `type` of its response.
   * https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html
   */
  readonly gatewayResponses: SearchExpression;
  private readonly namespace: string;

  constructor(scope: Construct, id: string, { accessLog, authorizerLog, deletionLog }: LogMetricsProps) {
    super(scope, id);
    this.namespace = `WalletApi/${Stack.of(this).stackName}`;
    // Codes of `lambda/shared/log.ts`.
    const refusals = { name: 'Refusals', dimensions: { code: '$.code' } };
    this.count('Deletions', deletionLog, logCode('USER_GROUP_DELETION_COMPLETED'), { name: 'Deletions' });
    this.count('DeletionRefusals', deletionLog, logCode('USER_GROUP_DELETION_REFUSED'), refusals);
    this.count('TokenRefusals', authorizerLog, logCode('REQUEST_REFUSED'), refusals);
    const gatewayResponses = { name: 'GatewayResponses', dimensions: { type: '$.errorType' } };
    this.count('GatewayResponses', accessLog, ofGateway, gatewayResponses);

    this.deletions = new Metric({
      namespace: this.namespace,
      metricName: 'Deletions',
      statistic: 'Sum',
      period,
    });
    this.refusals = this.each('Refusals', 'code');
    this.gatewayResponses = this.each('GatewayResponses', 'type');
  }

  private count(
    id: string,
    logGroup: ILogGroup,
    filterPattern: IFilterPattern,
    { name, dimensions }: { readonly name: string; readonly dimensions?: Record<string, string> },
  ): void {
    new MetricFilter(this, id, {
      logGroup,
      filterPattern,
      metricNamespace: this.namespace,
      metricName: name,
      ...(dimensions && { dimensions }),
    });
  }

  /** One series for each value that was seen in the last two weeks: no list of values here that could grow old. */
  private each(name: string, dimension: string): SearchExpression {
    return new SearchExpression({
      expression: `SEARCH('{"${this.namespace}","${dimension}"} MetricName="${name}"', 'Sum')`,
      label: `\${PROP('Dim.${dimension}')}`,
      period,
    });
  }
}

const logCode = (code: string) => FilterPattern.stringValue('$.logCode', '=', code);

/** Neither a success nor a response of a function, which has no type: `-`. */
const ofGateway = FilterPattern.literal('{ $.status != "2*" && $.errorType != "-" }');
