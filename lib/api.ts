import { Duration, Stack } from 'aws-cdk-lib';
import {
  AuthorizationType,
  type CfnRestApi,
  EndpointAccessMode,
  EndpointType,
  IdentitySource,
  LambdaIntegration,
  MethodLoggingLevel,
  RequestAuthorizer,
  RestApi,
  SecurityPolicy,
} from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { accessLog } from './api/access-log';
import { acknowledgeOwnTokens, acknowledgeRestApi } from './api/api-rules';
import { deprecationHeaders } from './api/deprecation-headers';
import { addGatewayResponses } from './api/gateway-responses';
import { WebAcl } from './api/web-acl';
import { addWebhookOrigins } from './api/webhook-origins';
import type { Environment } from './environment';

export interface RegionApiProps {
  readonly environment: Environment;
  /** Verifies the access token: a REQUEST authorizer. */
  readonly authorizeRequest: IFunction;
  readonly deleteUserGroup: IFunction;
  /** The address that webhooks come from, IPv4. */
  readonly webhookOriginAddress: string;
}

/** The last segment of the base address. The interface has no version in its paths, so neither has this. */
const STAGE_NAME = 'api';

/**
 * The API of one environment, as `openapi.yaml` describes it: routes, authorizer, the gateway's own answers, firewall,
 * throttling and access log.
 */
export class RegionApi extends Construct {
  /** The base address, without a slash at the end. */
  readonly url: string;
  readonly restApi: RestApi;

  constructor(scope: Construct, id: string, props: RegionApiProps) {
    super(scope, id);
    const { environment } = props;
    const headers = deprecationHeaders(environment.deprecation);

    this.restApi = createRestApi(this, environment);
    addGatewayResponses(this.restApi, headers);
    this.addUserGroupDeletion(props);
    addWebhookOrigins(this.restApi.root.addResource('webhook-origins'), {
      environment,
      address: props.webhookOriginAddress,
      headers,
    });
    new WebAcl(this, 'WebAcl', {
      stage: this.restApi.deploymentStage,
      environmentName: environment.name,
      logRetention: environment.logRetentionDays,
    });

    const { region, urlSuffix } = Stack.of(this);
    this.url = `https://${this.restApi.restApiId}.execute-api.${region}.${urlSuffix}/${STAGE_NAME}`;
  }

  private addUserGroupDeletion(props: RegionApiProps): void {
    const authorizer = new RequestAuthorizer(this, 'AccessToken', {
      handler: props.authorizeRequest,
      // Also the cache's key, so that one token's decision never serves another token.
      identitySources: [IdentitySource.header('Authorization')],
      resultsCacheTtl: Duration.seconds(60),
    });

    const deletion = this.restApi.root
      .addResource('auth')
      .addResource('user-groups')
      .addResource('{userGroupId}')
      .addMethod('DELETE', new LambdaIntegration(props.deleteUserGroup, { allowTestInvoke: false }), {
        operationName: 'deleteUserGroup',
        authorizationType: AuthorizationType.CUSTOM,
        authorizer,
      });
    acknowledgeOwnTokens(deletion);
  }
}

function createRestApi(scope: Construct, environment: Environment): RestApi {
  const restApi = new RestApi(scope, 'RestApi', {
    restApiName: `wallet-${environment.name}`,
    endpointTypes: [EndpointType.REGIONAL],
    // An access log needs the region's API Gateway to have a role for CloudWatch, see docs/decisions/api-gateway.md.
    cloudWatchRole: true,
    deployOptions: {
      stageName: STAGE_NAME,
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

  // The library's own output of the address: the stack has `ApiBaseUrl`.
  restApi.node.tryRemoveChild('Endpoint');
  acknowledgeRestApi(restApi);
  return restApi;
}
