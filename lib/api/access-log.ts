import { RemovalPolicy } from 'aws-cdk-lib';
import { AccessLogFormat, LogGroupLogDestination, type StageOptions } from 'aws-cdk-lib/aws-apigateway';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';

/**
 * One line of JSON a request. Nothing that a caller writes freely is in it, neither token nor header nor path: the
 * line is filled without escaping, and 1,024 bytes of it are kept
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html). Latencies are in ms.
 * Variables: https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
const fields = {
  time: '$context.requestTime',
  requestId: '$context.extendedRequestId',
  xAmznRequestId: '$context.requestId',
  ip: '$context.identity.sourceIp',
  method: '$context.httpMethod',
  resourcePath: '$context.resourcePath',
  status: '$context.status',
  errorType: '$context.error.responseType',
  latency: '$context.responseLatency',
  integrationStatus: '$context.integration.status',
  integrationLatency: '$context.integration.latency',
  authorizerStatus: '$context.authorizer.status',
  authorizerLatency: '$context.authorizer.latency',
  authorizerError: '$context.authorizer.error',
  wafResponseCode: '$context.wafResponseCode',
  tlsVersion: '$context.tlsVersion',
};

/** The access log of a stage, in its own log group, which outlives the stack. */
export function accessLog(
  scope: Construct,
  retention: RetentionDays,
): Pick<StageOptions, 'accessLogDestination' | 'accessLogFormat'> {
  const logGroup = new LogGroup(scope, 'AccessLog', {
    retention,
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  });
  return {
    accessLogDestination: new LogGroupLogDestination(logGroup),
    accessLogFormat: AccessLogFormat.custom(JSON.stringify(fields)),
  };
}
