import { Duration } from 'aws-cdk-lib';
import { LambdaIntegration, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { Construct } from 'constructs';
import type { DashboardFacts, OtherDashboard } from '../../domain/dashboard';
import { pageFile, variables } from '../../lambda/serve-dashboard/environment';
import type { Api } from '../api/api';
import { signatureHeaders } from '../api/api';
import { addGatewayResponses, deprecationHeaders } from '../api/gateway-responses';
import { gatewayOrigin, regionalRestApi } from '../api/regional-rest-api';
import { acknowledge } from '../checks/acknowledgements';
import type { Environment } from '../environment';
import { HandlerFunction } from '../functions/handler-function';
import { dashboardPage, securityHeaders } from './page';

export interface RegionDashboardProps {
  readonly environment: Environment;
  /** Those that the page links. */
  readonly others: readonly OtherDashboard[];
  /** The API that the page names; its firewall stands before the page, too. */
  readonly api: Api;
  /** The address that webhooks come from, IPv4. */
  readonly webhookOriginAddress: string;
  /** The address that they come from in an announced emergency only, IPv4. @default - the row asks for none */
  readonly webhookOriginReserve?: string | undefined;
}

/** The last segment of the address that API Gateway gives. */
const STAGE_NAME = 'dashboard';

/** Bytes: nothing but the page is larger. */
const COMPRESS_FROM = 4096;

/** The dashboard of one environment, at its own address, served from the region. */
export class RegionDashboard extends Construct {
  /** Without a slash at the end. */
  readonly url: string;
  readonly restApi: RestApi;

  constructor(scope: Construct, id: string, props: RegionDashboardProps) {
    super(scope, id);
    const { environment, others, api, webhookOriginAddress, webhookOriginReserve } = props;
    const restApi = regionalRestApi(this, {
      environment,
      name: `wallet-${environment.name}-dashboard`,
      stageName: STAGE_NAME,
      makesLogRole: false,
      compressFrom: COMPRESS_FROM,
    });
    this.restApi = restApi;
    this.url = environment.domainNames
      ? `https://${environment.domainNames.dashboard}`
      : `${gatewayOrigin(restApi)}/${STAGE_NAME}`;
    const { purpose, region, residencyRegions, chains, deprecation, support } = environment;
    const facts: Omit<DashboardFacts, 'others'> = {
      environment: environment.name,
      purpose,
      region,
      residencyRegions,
      chains,
      serviceLevelAgreement: environment.serviceLevelAgreement,
      testFundsOnly: environment.testFundsOnly,
      ...(deprecation && { deprecation }),
      apiBaseUrl: api.url,
      address: webhookOriginAddress,
      ...(webhookOriginReserve && { reserve: webhookOriginReserve }),
      support,
      signatureHeaders,
    };
    const page = dashboardPage();
    const serveDashboard = new HandlerFunction(this, 'ServeDashboard', {
      useCase: 'serve-dashboard',
      files: { [pageFile]: page.html },
      description: 'Serves the dashboard',
      invokedBy: 'gateway',
      variables,
      environment: {
        FACTS: JSON.stringify(facts),
        OTHER_DASHBOARDS: JSON.stringify(others),
        RESPONSE_HEADERS: JSON.stringify({ ...page.headers, ...deprecationHeaders(deprecation) }),
      },
      timeout: Duration.seconds(5),
      memorySize: 256,
      logRetention: environment.logRetentionDays,
    });
    const get = restApi.root.addMethod(
      'GET',
      new LambdaIntegration(serveDashboard, { allowTestInvoke: false }),
      { operationName: 'getDashboard' },
    );
    acknowledge(restApi, 'pageValidation');
    acknowledge(get, 'publicPage');
    addGatewayResponses(restApi, { ...securityHeaders, ...deprecationHeaders(deprecation) });
    api.webAcl.protect(this, restApi.deploymentStage);
    // A stage with an access log needs the role that the API makes.
    restApi.deploymentStage.node.addDependency(api.restApi.node.findChild('Account'));
  }
}
