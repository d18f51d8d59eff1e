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
import { apiName, apiStage, deletionRoute } from '../../domain/objective';
import { checkPath } from '../../domain/probe';
import { decisionSeconds } from '../../lambda/authorize-request/variables';
import { acknowledge } from '../checks/acknowledgements';
import { checkThrottle, type Environment } from '../environment/schema';
import type { WebhookOrigin } from '../network/webhook-origin';
import { addGatewayResponses, deprecationHeaders, staticValues } from './gateway-responses';
import { regionalRestApi } from './regional-rest-api';
import { WebAcl } from './web-acl';

export interface ApiProps {
  readonly environment: Environment;
  /** Verifies the access token: a REQUEST authorizer. */
  readonly authorizeRequest: IFunction;
  readonly deleteUserGroup: IFunction;
  /** The environment's own receiver. */
  readonly checkDelivery: IFunction;
  readonly webhookOrigin: WebhookOrigin;
}

/** All carry the same signature: the name in Standard Webhooks, then the two of the specification. */
export const signatureHeaders = ['webhook-signature', 'X-SVC-WEBHOOK-SIGNATURE', 'Svc-Signature'] as const;

/**
 * The API of one environment, as `openapi.yaml` describes it: routes, authorizer, the gateway's own responses, firewall,
 * throttling and access log.
 */
export class Api extends Construct {
  /** The base address, without a slash at the end. */
  readonly url: string;
  readonly restApi: RestApi;
  /** The access log: a line of JSON for each request. @default - none in a disposable environment */
  readonly accessLog: LogGroup | undefined;
  /** Also for other stages of the environment. */
  readonly webAcl: WebAcl;

  constructor(scope: Construct, id: string, props: ApiProps) {
    super(scope, id);
    const { environment } = props;
    const check = checkThrottle(environment);
    const { restApi, accessLog, url } = regionalRestApi(this, {
      environment,
      name: apiName(environment.name),
      domainName: environment.domainNames?.api,
      stageName: apiStage,
      makesLogRole: true,
      methods: {
        [`${deletionRoute.path}/${deletionRoute.method}`]: { metricsEnabled: true },
        [`${checkPath}/{webhookId}/POST`]: {
          throttlingRateLimit: check.requestsPerSecond,
          throttlingBurstLimit: check.burst,
        },
      },
    });
    this.restApi = restApi;
    this.accessLog = accessLog;
    this.url = url;
    const logRole = restApi.node.tryFindChild('CloudWatchRole');
    if (logRole) acknowledge(logRole, 'logRole');
    acknowledge(restApi, 'api');
    addGatewayResponses(restApi, deprecationHeaders(environment.deprecation));
    this.addUserGroupDeletion(props);
    this.addWebhookOrigins(props);
    this.addDeliveryCheck(props);
    this.webAcl = new WebAcl(this, 'WebAcl', {
      environment,
      stage: restApi.deploymentStage,
      publishedAddresses: props.webhookOrigin.published,
    });
  }

  private addUserGroupDeletion({ authorizeRequest, deleteUserGroup }: ApiProps): void {
    const authorizer = new RequestAuthorizer(this, 'AccessToken', {
      handler: authorizeRequest,
      // Also the cache's key, so that one token's decision never serves another token.
      identitySources: [IdentitySource.header('Authorization')],
      resultsCacheTtl: Duration.seconds(decisionSeconds),
    });
    const deletion = this.restApi.root
      .resourceForPath(deletionRoute.path)
      .addMethod(deletionRoute.method, new LambdaIntegration(deleteUserGroup, { allowTestInvoke: false }), {
        operationName: 'deleteUserGroup',
        authorizationType: AuthorizationType.CUSTOM,
        authorizer,
      });
    acknowledge(deletion, 'methodWithToken');
  }

  /**
   * `GET` and `HEAD /webhook-origins`: the addresses that receivers put on their allow-lists, the headers that they verify, and
   * whether the environment is deprecated. The gateway responds itself: no token, no function, no database. `addresses`
   * does not change while the reserve is in use: a receiver that allows both does not have to act.
   */
  private addWebhookOrigins({ environment, webhookOrigin }: ApiProps): void {
    const { name, region, deprecation } = environment;
    const { address, reserve, published } = webhookOrigin;
    const rest = {
      signatureHeaders,
      deprecated: deprecation !== undefined,
      ...(deprecation && { deprecation }),
    };
    const body = {
      environment: name,
      region,
      addresses: [`${address}/32`],
      ...(reserve && { reserve: [`${reserve.address}/32`] }),
      ...rest,
    };
    // The addresses are known at deployment, the rest at synthesis.
    const version = createHash('sha256').update(JSON.stringify(rest)).digest('hex').slice(0, 8);
    const headers = staticValues({
      'Content-Type': 'application/json',
      // The addresses never change; clients see a deprecation within an hour.
      'Cache-Control': 'public, max-age=3600',
      ETag: `"${[...published, version].join('-')}"`,
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
    const responseParameters = Object.fromEntries(parameters.map(([header]) => [header, true]));
    const methodResponses = [{ statusCode: '200', responseParameters }];
    const resource = this.restApi.root.addResource('webhook-origins');
    for (const [method, operationName] of [
      ['GET', 'listWebhookOrigins'],
      ['HEAD', 'headWebhookOrigins'],
    ] as const) {
      const added = resource.addMethod(method, integration, { operationName, methodResponses });
      acknowledge(added, 'publicMethod');
    }
  }

  /** The environment's own receiver: the function checks what a token would. */
  private addDeliveryCheck({ checkDelivery }: ApiProps): void {
    const method = this.restApi.root
      .resourceForPath(`${checkPath}/{webhookId}`)
      .addMethod('POST', new LambdaIntegration(checkDelivery, { allowTestInvoke: false }), {
        operationName: 'checkDelivery',
      });
    acknowledge(method, 'methodWithSignature');
  }
}
