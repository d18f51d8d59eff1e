import { createHash } from 'node:crypto';
import { Duration } from 'aws-cdk-lib';
import {
  AuthorizationType,
  IdentitySource,
  LambdaIntegration,
  MockIntegration,
  PassthroughBehavior,
  RequestAuthorizer,
  type RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { LogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { decisionSeconds } from '../../lambda/authorize-request/environment';
import { acknowledge } from '../checks/acknowledgements';
import type { Environment } from '../environment';
import { addGatewayResponses, deprecationHeaders, staticValues } from './gateway-responses';
import { gatewayOrigin, regionalRestApi } from './regional-rest-api';
import { WebAcl } from './web-acl';

export interface ApiProps {
  readonly environment: Environment;
  /** Verifies the access token: a REQUEST authorizer. */
  readonly authorizeRequest: IFunction;
  readonly deleteUserGroup: IFunction;
  /** The address that webhooks come from, IPv4. */
  readonly webhookOriginAddress: string;
  /** The address that they come from in an announced emergency only, IPv4. @default - the row asks for none */
  readonly webhookOriginReserve?: string | undefined;
}

/** All carry the same signature: Standard Webhooks' own name, then two of which it is not specified where each applies. */
export const signatureHeaders = ['webhook-signature', 'X-SVC-WEBHOOK-SIGNATURE', 'Svc-Signature'] as const;

/** The last segment of the base address. The interface has no version in its paths, so neither has this. */
const STAGE_NAME = 'api';

/**
 * The API of one environment, as `openapi.yaml` describes it: routes, authorizer, the gateway's own answers, firewall,
 * throttling and access log.
 */
export class Api extends Construct {
  /** The base address, without a slash at the end. */
  readonly url: string;
  readonly restApi: RestApi;
  /** A line of JSON for each request. */
  readonly accessLog: LogGroup;
  /** The firewall before it, for other stages of the environment too. */
  readonly webAcl: WebAcl;

  constructor(scope: Construct, id: string, props: ApiProps) {
    super(scope, id);
    const { environment } = props;
    this.restApi = regionalRestApi(this, {
      environment,
      name: `wallet-${environment.name}`,
      stageName: STAGE_NAME,
      makesLogRole: true,
    });
    this.accessLog = this.node.findChild('AccessLog') as LogGroup;
    acknowledge(this.restApi.node.findChild('CloudWatchRole'), 'logRole');
    acknowledge(this.restApi, 'gatewayValidation');
    addGatewayResponses(this.restApi, deprecationHeaders(environment.deprecation));
    this.addUserGroupDeletion(props);
    this.addWebhookOrigins(props);
    this.webAcl = new WebAcl(this, 'WebAcl', {
      stage: this.restApi.deploymentStage,
      environmentName: environment.name,
      logRetention: environment.logRetentionDays,
    });

    this.url = environment.domainNames
      ? `https://${environment.domainNames.api}`
      : `${gatewayOrigin(this.restApi)}/${STAGE_NAME}`;
  }

  private addUserGroupDeletion(props: ApiProps): void {
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
    acknowledge(deletion, 'customTokens');
  }
  /**
   * `GET` and `HEAD /webhook-origins`: the addresses that receivers put on their allow-lists, the headers that they verify, and
   * whether the environment is deprecated. The gateway answers itself: no token, no function, no database. `addresses`
   * stays as it is while the reserve is in use: who allows both has nothing to do then.
   */
  private addWebhookOrigins(props: ApiProps): void {
    const { environment, webhookOriginAddress: address, webhookOriginReserve: reserve } = props;
    const { name, region, deprecation } = environment;
    const rest = {
      signatureHeaders,
      deprecated: deprecation !== undefined,
      ...(deprecation && { deprecation }),
    };
    const body = {
      environment: name,
      region,
      addresses: [`${address}/32`],
      ...(reserve && { reserve: [`${reserve}/32`] }),
      ...rest,
    };
    // The addresses are known when the stack is deployed, the rest now.
    const version = createHash('sha256').update(JSON.stringify(rest)).digest('hex').slice(0, 8);
    const headers = staticValues({
      'Content-Type': 'application/json',
      // The addresses never change; an hour bounds how long a deprecation goes unnoticed.
      'Cache-Control': 'public, max-age=3600',
      ETag: `"${[address, ...(reserve ? [reserve] : []), version].join('-')}"`,
      ...deprecationHeaders(deprecation),
    });
    const parameters = Object.entries(headers).map(
      ([header, value]) => [`method.response.header.${header}`, value] as const,
    );
    const integration = new MockIntegration({
      requestTemplates: { 'application/json': '{"statusCode": 200}' },
      passthroughBehavior: PassthroughBehavior.NEVER,
      integrationResponses: [
        {
          statusCode: '200',
          responseParameters: Object.fromEntries(parameters),
          responseTemplates: { 'application/json': JSON.stringify(body) },
        },
      ],
    });
    const resource = this.restApi.root.addResource('webhook-origins');
    for (const [method, operationName] of [
      ['GET', 'listWebhookOrigins'],
      ['HEAD', 'headWebhookOrigins'],
    ] as const) {
      const added = resource.addMethod(method, integration, {
        operationName,
        methodResponses: [
          {
            statusCode: '200',
            responseParameters: Object.fromEntries(parameters.map(([header]) => [header, true])),
          },
        ],
      });
      acknowledge(added, 'publicOrigins');
    }
  }
}
