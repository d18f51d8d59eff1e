import { Duration } from 'aws-cdk-lib';
import {
  AuthorizationType,
  IdentitySource,
  LambdaIntegration,
  RequestAuthorizer,
  type RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { decisionSeconds } from '../../lambda/authorize-request/environment';
import {
  acknowledgeCustomTokens,
  acknowledgeLogRole,
  acknowledgeNoGatewayValidation,
} from '../checks/acknowledgements/api';
import type { Environment } from '../environment';
import { deprecationHeaders } from './deprecation-headers';
import { addGatewayResponses } from './gateway-responses';
import { gatewayOrigin, regionalRestApi } from './regional-rest-api';
import { WebAcl } from './web-acl';
import { addWebhookOrigins } from './webhook-origins';

export interface RegionApiProps {
  readonly environment: Environment;
  /** Verifies the access token: a REQUEST authorizer. */
  readonly authorizeRequest: IFunction;
  readonly deleteUserGroup: IFunction;
  /** The address that webhooks come from, IPv4. */
  readonly webhookOriginAddress: string;
  /** The address that they come from in an announced emergency only, IPv4. @default - the row asks for none */
  readonly webhookOriginReserve?: string | undefined;
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
  /** A line of JSON for each request. */
  readonly accessLog: LogGroup;
  /** The firewall before it, for other stages of the environment too. */
  readonly webAcl: WebAcl;

  constructor(scope: Construct, id: string, props: RegionApiProps) {
    super(scope, id);
    const { environment } = props;
    // Of every answer that the gateway gives itself.
    const headers = deprecationHeaders(environment.deprecation);

    this.restApi = regionalRestApi(this, {
      environment,
      name: `wallet-${environment.name}`,
      stageName: STAGE_NAME,
      makesLogRole: true,
    });
    this.accessLog = this.node.findChild('AccessLog') as LogGroup;
    acknowledgeLogRole(this.restApi);
    acknowledgeNoGatewayValidation(this.restApi);
    addGatewayResponses(this.restApi, headers);
    this.addUserGroupDeletion(props);
    addWebhookOrigins(this.restApi.root.addResource('webhook-origins'), {
      environment,
      address: props.webhookOriginAddress,
      reserve: props.webhookOriginReserve,
      headers,
    });
    this.webAcl = new WebAcl(this, 'WebAcl', {
      stage: this.restApi.deploymentStage,
      environmentName: environment.name,
      logRetention: environment.logRetentionDays,
    });

    this.url = environment.domainNames
      ? `https://${environment.domainNames.api}`
      : `${gatewayOrigin(this.restApi)}/${STAGE_NAME}`;
  }

  private addUserGroupDeletion(props: RegionApiProps): void {
    const authorizer = new RequestAuthorizer(this, 'AccessToken', {
      handler: props.authorizeRequest,
      // Also the cache's key, so that one token's decision never serves another token.
      identitySources: [IdentitySource.header('Authorization')],
      resultsCacheTtl: Duration.seconds(decisionSeconds),
    });

    const userGroup = this.restApi.root
      .addResource('auth')
      .addResource('user-groups')
      .addResource('{userGroupId}');
    const deletion = userGroup.addMethod(
      'DELETE',
      new LambdaIntegration(props.deleteUserGroup, { allowTestInvoke: false }),
      { operationName: 'deleteUserGroup', authorizationType: AuthorizationType.CUSTOM, authorizer },
    );
    acknowledgeCustomTokens(deletion);
  }
}
