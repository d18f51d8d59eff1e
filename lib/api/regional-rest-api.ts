import { RemovalPolicy, Size, Stack } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  type CfnRestApi,
  EndpointAccessMode,
  EndpointType,
  LogGroupLogDestination,
  type MethodDeploymentOptions,
  MethodLoggingLevel,
  RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { acknowledge } from '../checks/acknowledgements';
import type { Environment } from '../environment/schema';

export interface RegionalRestApiProps {
  readonly environment: Environment;
  readonly name: string;
  /** @default - API Gateway's host name */
  readonly domainName: string | undefined;
  /** The last segment of API Gateway's default URL. */
  readonly stageName: string;
  /** Creates the role for the region's access logs: one API of a logged stack does, see docs/decisions/api.md. @default false */
  readonly makesLogRole?: boolean;
  /** Settings of methods that differ from the stage's, by path and method, such as `/orders/POST`. @default - none */
  readonly methods?: Readonly<Record<string, MethodDeploymentOptions>>;
  /** Minimum size in bytes of compressed responses, for clients that accept them. @default - never */
  readonly compressFrom?: number;
}

/** A regional REST API: throttled as the environment specifies, at least TLS 1.2, logged unless the environment is disposable. */
export class RegionalRestApi extends Construct {
  readonly restApi: RestApi;
  /** The base address, without a slash at the end. */
  readonly url: string;
  /** A line of JSON for each request. @default - none in a disposable environment */
  readonly accessLog: LogGroup | undefined;

  constructor(scope: Construct, id: string, props: RegionalRestApiProps) {
    super(scope, id);
    const { environment, domainName, stageName, methods = {}, compressFrom } = props;
    // An access log needs the role, one setting for all APIs of an account and region, which a disposable stack would take along.
    const isLogged = !environment.disposable;
    if (isLogged)
      this.accessLog = new LogGroup(this, 'AccessLog', {
        retention: environment.logRetentionDays,
        removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
      });
    const methodSettings: MethodDeploymentOptions = {
      ...limitsOf(environment.throttle),
      // Execution logs would contain bodies and access tokens.
      loggingLevel: MethodLoggingLevel.OFF,
      dataTraceEnabled: false,
      metricsEnabled: false,
    };
    this.restApi = new RestApi(this, 'RestApi', {
      restApiName: props.name,
      endpointTypes: [EndpointType.REGIONAL],
      cloudWatchRole: props.makesLogRole === true && isLogged,
      // With a custom domain name, API Gateway's default endpoint returns 403 to every caller.
      disableExecuteApiEndpoint: domainName !== undefined,
      ...(compressFrom !== undefined && { minCompressionSize: Size.bytes(compressFrom) }),
      deployOptions: {
        stageName,
        ...methodSettings,
        // Metrics of a method are paid for, and a method's own settings replace all of the stage's.
        methodOptions: Object.fromEntries(
          Object.entries(methods).map(([method, own]) => [method, { ...methodSettings, ...own }]),
        ),
        ...(this.accessLog && {
          accessLogDestination: new LogGroupLogDestination(this.accessLog),
          accessLogFormat: AccessLogFormat.custom(JSON.stringify(accessLogFields)),
        }),
      },
    });

    // TLS 1.2 and 1.3 with forward secrecy. The default of a regional endpoint is TLS_1_0
    // (https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-security-policies-list.html).
    const resource = this.restApi.node.defaultChild as CfnRestApi;
    resource.securityPolicy = SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09;
    resource.endpointAccessMode = EndpointAccessMode.STRICT;

    // The CDK's output of the URL: the stack has outputs with stable names.
    this.restApi.node.tryRemoveChild('Endpoint');
    acknowledge(this.restApi.deploymentStage, 'stage');
    if (!isLogged) acknowledge(this.restApi.deploymentStage, 'stageWithoutLog');
    const { region, urlSuffix } = Stack.of(this);
    this.url = domainName
      ? `https://${domainName}`
      : `https://${this.restApi.restApiId}.execute-api.${region}.${urlSuffix}/${stageName}`;
  }
}

export const limitsOf = ({ requestsPerSecond, burst }: Environment['throttle']) => ({
  throttlingRateLimit: requestsPerSecond,
  throttlingBurstLimit: burst,
});

/**
 * Without a caller's free text, such as tokens, headers or paths: API Gateway does not escape values. Latencies are in ms.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-known-issues.html
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html
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
