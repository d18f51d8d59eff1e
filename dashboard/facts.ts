import type { Chain, Deprecation } from '../lib/environment/environment';

/** The dashboard of another environment. */
export interface OtherDashboard {
  /** The environment's name. */
  readonly environment: string;
  readonly purpose: string;
  /** Where it is. */
  readonly url: string;
}

/** What the page shows of its environment: all of it public. The stack puts it into the page, as JSON. */
export interface DashboardFacts {
  readonly environment: string;
  readonly purpose: string;
  /** The AWS region that serves. */
  readonly region: string;
  /** The AWS regions in which data is stored and processed. */
  readonly residencyRegions: readonly string[];
  readonly chains: readonly Chain[];
  readonly serviceLevelAgreement: boolean;
  readonly testFundsOnly: boolean;
  /** Absent: not deprecated. */
  readonly deprecation?: Deprecation;
  /** Without a slash at its end. */
  readonly apiBaseUrl: string;
  /** IPv4, without a prefix length. */
  readonly webhookOriginAddress: string;
  /** Likewise: where they come from in an announced emergency only. Absent: there is none. */
  readonly webhookOriginReserve?: string;
  /** Those of other environments whose addresses are known: by a custom domain name or, on this machine, all. */
  readonly others: readonly OtherDashboard[];
  /** Headers that carry a webhook's signature, each the same one. */
  readonly signatureHeaders: readonly string[];
}
