import type { WebhookOrigin } from '../../../cli/allow-lists/allow-list';

export const eu: WebhookOrigin = { environment: 'eu', region: 'eu-central-1', address: '203.0.113.7' };
export const uae: WebhookOrigin = { environment: 'uae', region: 'me-central-1', address: '198.51.100.4' };
export const staging: WebhookOrigin = {
  environment: 'staging',
  region: 'eu-west-3',
  address: '192.0.2.9',
  deprecation: { since: '2026-11-20', sunset: '2027-11-30' },
};

export const all = [eu, uae, staging];

/** Likewise, with a reserve each. */
export const reserving: WebhookOrigin[] = all.map((origin, index) => ({
  ...origin,
  reserve: `203.0.113.${index + 100}`,
}));
