import type { WebhookOrigin } from './allow-list';

/** The dashboard of another environment. */
export interface OtherDashboard {
  /** The environment's name. */
  readonly environment: string;
  readonly purpose: string;
  /** Where it is. */
  readonly url: string;
}

/** Whom receivers of webhooks turn to, and what they read. */
export interface Support {
  /** A mail address, or the `https` URL of a form. */
  readonly contact: string;
  /** The `https` URL under which `docs/receivers.md` is published for them. */
  readonly guide: string;
}

/** What the page shows of its environment: all of it public. The stack puts it into the page, as JSON. */
export interface DashboardFacts extends WebhookOrigin {
  readonly purpose: string;
  /** The AWS regions in which data is stored and processed. */
  readonly residencyRegions: readonly string[];
  readonly chains: readonly string[];
  readonly serviceLevelAgreement: boolean;
  readonly testFundsOnly: boolean;
  /** Without a slash at its end. */
  readonly apiBaseUrl: string;
  readonly support: Support;
  /** Those of other environments whose addresses are known: by a custom domain name or, on this machine, all. */
  readonly others: readonly OtherDashboard[];
  /** Headers that carry a webhook's signature, each the same one. */
  readonly signatureHeaders: readonly string[];
}
