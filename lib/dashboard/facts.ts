import type { DashboardFacts, OtherDashboard } from '../../domain/dashboard';
import { signatureHeaders } from '../api/webhook-origins';
import type { Environment } from '../environment';

/** Of environments with a custom domain name: the other addresses are known when a stack is deployed, to that stack alone. */
export const knownDashboards = (environments: readonly Environment[]): OtherDashboard[] =>
  environments.flatMap(({ name, purpose, domainNames }) =>
    domainNames ? [{ environment: name, purpose, url: `https://${domainNames.dashboard}` }] : [],
  );

/** The facts of an environment for its page, but for the other dashboards. */
export function dashboardFacts(
  environment: Environment,
  addresses: Pick<DashboardFacts, 'apiBaseUrl' | 'address' | 'reserve'>,
): Omit<DashboardFacts, 'others'> {
  const { name, purpose, region, residencyRegions, chains, deprecation, support } = environment;
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
    support,
    signatureHeaders,
  };
}
