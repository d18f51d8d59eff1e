import { Duration } from 'aws-cdk-lib';
import {
  AuthorizationType,
  IdentitySource,
  LambdaIntegration,
  type MethodDeploymentOptions,
  RequestAuthorizer,
} from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { type Operation, routes } from '../../domain/routes';
import { decisionSeconds } from '../../lambda/authorize-request/variables';
import { acknowledge } from '../checks/acknowledgements';
import type { Environment } from '../environment/schema';
import type { WebhookOrigin } from '../network/webhook-origin';
import { addGatewayResponses, deprecationHeaders } from './gateway-responses';
import { limitsOf, RegionalRestApi } from './regional-rest-api';
import { type RouteFunctions, routeTable } from './routes';
import { WebAcl } from './web-acl';
import { webhookOrigins } from './webhook-origins';

export interface ApiProps {
  readonly environment: Environment;
  /** Verifies the access token: a REQUEST authorizer. */
  readonly authorizeRequest: IFunction;
  readonly routeFunctions: RouteFunctions;
  readonly webhookOrigin: WebhookOrigin;
}

/** In AWS. */
export const apiName = (environment: string): string => `wallet-${environment}`;
/** Paths have no version. */
export const apiStage = 'api';

const operations = Object.keys(routes) as Operation[];

/**
 * The API of one environment, as `openapi.yaml` describes it: routes, authorizer, the gateway's own responses, firewall,
 * throttling and access log.
 */
export class Api extends RegionalRestApi {
  /** Also for other stages of the environment. */
  readonly webAcl: WebAcl;

  constructor(scope: Construct, id: string, props: ApiProps) {
    const { environment } = props;
    super(scope, id, {
      environment,
      name: apiName(environment.name),
      domainName: environment.domainNames?.api,
      stageName: apiStage,
      makesLogRole: true,
      methods: ownSettings(environment),
    });
    const logRole = this.restApi.node.tryFindChild('CloudWatchRole');
    if (logRole) acknowledge(logRole, 'logRole');
    acknowledge(this.restApi, 'api');
    addGatewayResponses(this.restApi, deprecationHeaders(environment.deprecation));
    this.addRoutes(props);
    this.webAcl = new WebAcl(this, 'WebAcl', {
      environment,
      stage: this.restApi.deploymentStage,
      publishedAddresses: props.webhookOrigin.published,
    });
  }

  private addRoutes({ environment, authorizeRequest, routeFunctions, webhookOrigin }: ApiProps): void {
    const authorizer = new RequestAuthorizer(this, 'AccessToken', {
      handler: authorizeRequest,
      // Also the cache's key, so that one token's decision never serves another token.
      identitySources: [IdentitySource.header('Authorization')],
      resultsCacheTtl: Duration.seconds(decisionSeconds),
    });
    const origins = webhookOrigins(environment, webhookOrigin);
    for (const operation of operations) {
      const { method, path } = routes[operation];
      const { requiresToken, acknowledged } = routeTable[operation];
      const { integration, ...responses } =
        operation in routeFunctions
          ? { integration: new LambdaIntegration(routeFunctions[operation as keyof RouteFunctions], proxy) }
          : origins;
      const added = this.restApi.root.resourceForPath(path).addMethod(method, integration, {
        operationName: operation,
        ...responses,
        ...(requiresToken && { authorizationType: AuthorizationType.CUSTOM, authorizer }),
      });
      acknowledge(added, acknowledged);
    }
  }
}

/** API Gateway's console may not invoke it. */
const proxy = { allowTestInvoke: false };

/** Settings of methods that differ from the stage's, by path and method. */
const ownSettings = (environment: Environment): Record<string, MethodDeploymentOptions> =>
  Object.fromEntries(
    operations.flatMap((operation) => {
      const { method, path } = routes[operation];
      const { throttle, isMeasured } = routeTable[operation];
      const measured = isMeasured && { metricsEnabled: true };
      const limited = throttle && limitsOf(throttle(environment));
      return measured || limited ? [[`${path}/${method}`, { ...measured, ...limited }]] : [];
    }),
  );
