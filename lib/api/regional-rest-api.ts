import { Size, Stack } from 'aws-cdk-lib';
import {
  type CfnRestApi,
  EndpointAccessMode,
  EndpointType,
  MethodLoggingLevel,
  RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import type { Construct } from 'constructs';
import { acknowledgeStage } from '../checks/acknowledgements/api';
import type { Environment } from '../environment';
import { accessLog } from './access-log';

export interface RegionalRestApiProps {
  readonly environment: Environment;
  readonly name: string;
  /** The last segment of the address that API Gateway gives. */
  readonly stageName: string;
  /**
   * Whether it makes the role by which the region's API Gateway writes access logs: one API of a stack does, see
   * docs/decisions/api.md.
   */
  readonly makesLogRole: boolean;
  /** Bytes from which answers are compressed for clients that accept it. @default - never */
  readonly compressFrom?: number;
}

/** A REST API that is served from its region alone: throttled as the environment says, logged, TLS 1.2 at least. */
export function regionalRestApi(scope: Construct, props: RegionalRestApiProps): RestApi {
  const { environment, name, stageName, makesLogRole, compressFrom } = props;
  const restApi = new RestApi(scope, 'RestApi', {
    restApiName: name,
    endpointTypes: [EndpointType.REGIONAL],
    cloudWatchRole: makesLogRole,
    // With custom domain names, the name that API Gateway gives answers 403 to every caller.
    disableExecuteApiEndpoint: environment.domainNames !== undefined,
    ...(compressFrom !== undefined && { minCompressionSize: Size.bytes(compressFrom) }),
    deployOptions: {
      stageName,
      throttlingRateLimit: environment.throttle.requestsPerSecond,
      throttlingBurstLimit: environment.throttle.burst,
      metricsEnabled: true,
      // Execution logs would show bodies and what the authorizer was given.
      loggingLevel: MethodLoggingLevel.OFF,
      dataTraceEnabled: false,
      ...accessLog(scope, environment.logRetentionDays),
    },
  });

  // TLS 1.2 and 1.3 with forward secrecy. The default of a regional endpoint is TLS_1_0
  // (https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-security-policies-list.html).
  const resource = restApi.node.defaultChild as CfnRestApi;
  resource.securityPolicy = SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09;
  resource.endpointAccessMode = EndpointAccessMode.STRICT;

  // The CDK's output of the address: the stack has outputs with stable names.
  restApi.node.tryRemoveChild('Endpoint');
  acknowledgeStage(restApi.deploymentStage);
  return restApi;
}

/** Where API Gateway serves a REST API, as scheme and host: what browsers take for its origin. */
export function gatewayOrigin(restApi: RestApi): string {
  const { region, urlSuffix } = Stack.of(restApi);
  return `https://${restApi.restApiId}.execute-api.${region}.${urlSuffix}`;
}
