import type { DashboardFacts } from '../../domain/dashboard';

export const facts: DashboardFacts = {
  environment: 'eu',
  title: 'Europe, production',
  region: 'eu-central-1',
  residencyRegions: ['eu-central-1', 'eu-west-1'],
  chains: ['mainnet', 'testnet'],
  availability: 0.999,
  testFundsOnly: false,
  apiBaseUrl: 'https://api.eu.wallet-infrastructure.example',
  address: '203.0.113.7',
  reserve: ['203.0.113.8', '203.0.113.9'],
  support: {
    contact: 'webhooks@wallet-infrastructure.example',
    guide: 'https://docs.wallet-infrastructure.example/receivers',
  },
  signatureHeaders: ['webhook-signature', 'X-SVC-WEBHOOK-SIGNATURE', 'Svc-Signature'],
};

const { availability: _, ...withoutAgreement } = facts;

export const deprecatedFacts: DashboardFacts = {
  ...withoutAgreement,
  environment: 'staging',
  title: 'Staging, test funds only',
  testFundsOnly: true,
  deprecation: { since: '2026-11-20', sunset: '2027-06-30' },
};
