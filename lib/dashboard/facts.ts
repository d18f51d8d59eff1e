import type { DashboardFacts } from '../../dashboard/facts';
import { signatureHeaders } from '../api/webhook-origins';
import type { Environment } from '../environment/environment';

/** The facts of an environment for its page. */
export function dashboardFacts(
  environment: Environment,
  addresses: Pick<DashboardFacts, 'apiBaseUrl' | 'webhookOriginAddress' | 'webhookOriginReserve'>,
): DashboardFacts {
  const { name, purpose, region, residencyRegions, chains, deprecation } = environment;
  return {
    environment: name,
    purpose,
    region,
    residencyRegions,
    chains,
    serviceLevelAgreement: environment.serviceLevelAgreement,
    testFundsOnly: environment.testFundsOnly,
    ...(deprecation && { deprecation }),
    ...addresses,
    signatureHeaders,
  };
}
