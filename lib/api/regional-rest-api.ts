import { RemovalPolicy, Size, Stack } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  type CfnRestApi,
  EndpointAccessMode,
  EndpointType,
  LogGroupLogDestination,
  MethodLoggingLevel,
  RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { acknowledge } from '../checks/acknowledgements';
import type { Environment } from '../environment';

export interface RegionalRestApiProps {
  readonly environment: Environment;
  readonly name: string;
  /** @default - served under the name that API Gateway gives */
  readonly domainName: string | undefined;
  /** The last segment of the address that API Gateway gives. */
  readonly stageName: string;
  /**
   * Whether it makes the role by which the region's API Gateway writes access logs: one API of a stack does, see
   * docs/decisions/api.md.
   */
  readonly makesLogRole: boolean;
  /** Bytes from which responses are compressed for clients that accept it. @default - never */
  readonly compressFrom?: number;
}

/**
 * A REST API that is served from its region alone: throttled as the environment says, logged, TLS 1.2 at least.
 * `url` has no slash at its end.
 */
export function regionalRestApi(
  scope: Construct,
  { environment, name, domainName, stageName, makesLogRole, compressFrom }: RegionalRestApiProps,
): { readonly restApi: RestApi; readonly accessLog: LogGroup; readonly url: string } {
  const accessLog = new LogGroup(scope, 'AccessLog', {
    retention: environment.logRetentionDays,
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  });
  const restApi = new RestApi(scope, 'RestApi', {
    restApiName: name,
    endpointTypes: [EndpointType.REGIONAL],
    cloudWatchRole: makesLogRole,
    // With a custom domain name, the name that API Gateway gives returns 403 to every caller.
    disableExecuteApiEndpoint: domainName !== undefined,
    ...(compressFrom !== undefined && { minCompressionSize: Size.bytes(compressFrom) }),
    deployOptions: {
      stageName,
      throttlingRateLimit: environment.throttle.requestsPerSecond,
      throttlingBurstLimit: environment.throttle.burst,
      metricsEnabled: true,
      // Execution logs would show bodies and what the authorizer was given.
      loggingLevel: MethodLoggingLevel.OFF,
      dataTraceEnabled: false,
      accessLogDestination: new LogGroupLogDestination(accessLog),
      accessLogFormat: AccessLogFormat.custom(JSON.stringify(accessLogFields)),
    },
  });

  // TLS 1.2 and 1.3 with forward secrecy. The default of a regional endpoint is TLS_1_0
  // (https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-security-policies-list.html).
  const resource = restApi.node.defaultChild as CfnRestApi;
  resource.securityPolicy = SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09;
  resource.endpointAccessMode = EndpointAccessMode.STRICT;

  // The CDK's output of the address: the stack has outputs with stable names.
  restApi.node.tryRemoveChild('Endpoint');
  acknowledge(restApi.deploymentStage, 'executionLogs', 'responseCache', 'clientCertificate');
  const { region, urlSuffix } = Stack.of(scope);
  const url = domainName
    ? `https://${domainName}`
    : `https://${restApi.restApiId}.execute-api.${region}.${urlSuffix}/${stageName}`;
  return { restApi, accessLog, url };
}

/**
 * One line of JSON a request. Nothing that a caller writes freely is in it, neither token nor header nor path: the
 * line is filled without escaping, and API Gateway keeps 1,024 bytes of it
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html). Latencies are in ms.
 * Variables: https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
 */
const accessLogFields = {
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
