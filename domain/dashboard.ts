import type { WebhookOrigin } from './allow-list';

interface Support {
  /** An email address, or the `https` URL of a form. */
  readonly contact: string;
  /** The `https` URL of the published `docs/receivers.md`. */
  readonly guide: string;
}

/** Public data about the environment, which the stack embeds in the page as JSON. */
export interface DashboardFacts extends WebhookOrigin {
  /** The name for people; the page's heading has what comes before a comma. */
  readonly title: string;
  readonly residencyRegions: readonly string[];
  readonly chains: readonly string[];
  /** The share that the service level agreement promises. @default - no agreement */
  readonly availability?: number;
  readonly testFundsOnly: boolean;
  /** Has no trailing slash. */
  readonly apiBaseUrl: string;
  readonly support: Support;
  readonly signatureHeaders: readonly string[];
}
