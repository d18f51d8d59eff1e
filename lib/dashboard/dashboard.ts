import { Duration } from 'aws-cdk-lib';
import { LambdaIntegration } from 'aws-cdk-lib/aws-apigateway';
import type { Construct } from 'constructs';
import type { DashboardFacts } from '../../domain/dashboard';
import { signatureHeaders } from '../../domain/signature';
import { pageFile, variables } from '../../lambda/serve-dashboard/variables';
import type { Api } from '../api/api';
import { addGatewayResponses, deprecationHeaders } from '../api/gateway-responses';
import { RegionalRestApi } from '../api/regional-rest-api';
import { acknowledge } from '../checks/acknowledgements';
import type { Environment } from '../environment/schema';
import { HandlerFunction } from '../functions/handler-function';
import type { WebhookOrigin } from '../network/webhook-origin';
import { dashboardPage, securityHeaders } from './page';

export interface DashboardProps {
  readonly environment: Environment;
  /** The API shown on the page; its firewall also protects the page. */
  readonly api: Api;
  readonly webhookOrigin: WebhookOrigin;
}

/** The dashboard of one environment, at a separate address, served from the region. */
export class Dashboard extends RegionalRestApi {
  constructor(scope: Construct, id: string, { environment, api, webhookOrigin }: DashboardProps) {
    const { name, title, deprecation } = environment;
    super(scope, id, {
      environment,
      name: `wallet-${name}-dashboard`,
      domainName: environment.domainNames?.dashboard,
      stageName: 'dashboard',
      // Only the page is larger.
      compressFrom: 4096,
    });
    const { restApi } = this;
    const facts: DashboardFacts = {
      environment: name,
      title,
      region: environment.region,
      residencyRegions: environment.residencyRegions,
      chains: environment.chains,
      ...environment.objective,
      testFundsOnly: environment.testFundsOnly,
      ...(deprecation && { deprecation }),
      apiBaseUrl: api.url,
      address: webhookOrigin.address,
      ...(webhookOrigin.reserves.length > 0 && { reserve: webhookOrigin.reserves }),
      support: environment.support,
      signatureHeaders,
    };
    const page = dashboardPage();
    const serveDashboard = new HandlerFunction(this, 'ServeDashboard', {
      handlerName: 'serve-dashboard',
      files: { [pageFile]: page.html },
      description: 'Serves the dashboard',
      variables,
      environment: {
        FACTS: JSON.stringify(facts),
        RESPONSE_HEADERS: JSON.stringify({ ...page.headers, ...deprecationHeaders(deprecation) }),
      },
      timeout: Duration.seconds(5),
      memorySize: 256,
      logRetention: environment.logRetentionDays,
    });
    const integration = new LambdaIntegration(serveDashboard, { allowTestInvoke: false });
    acknowledge(restApi, 'page');
    for (const method of ['GET', 'HEAD']) {
      const operationName = `${method.toLowerCase()}Dashboard`;
      acknowledge(restApi.root.addMethod(method, integration, { operationName }), 'publicMethod');
    }
    addGatewayResponses(restApi, { ...securityHeaders, ...deprecationHeaders(deprecation) });
    api.webAcl.protect(this, restApi.deploymentStage);
    // A stage with an access log needs the role that the API creates.
    const logRole = api.restApi.node.tryFindChild('Account');
    if (logRole) restApi.deploymentStage.node.addDependency(logRole);
  }
}
