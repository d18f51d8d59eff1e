import { tableOf } from '../../lib/environment/table';

export * from '../../lib/environment/schema';

const all = {
  chains: ['mainnet', 'testnet'],
  support: { contact: 'webhooks@tests.example', guide: 'https://docs.tests.example/receivers' },
  signingKeyLabels: { accessToken: ['2026-11'], userAction: ['2026-11'] },
} as const;

const production = {
  ...all,
  serviceLevelAgreement: true,
  objective: { availability: 0.999 },
  testFundsOnly: false,
  database: {
    capacity: { minimum: 2, maximum: 32 },
    readers: 1,
    backupRetentionDays: 35,
    deletionProtection: true,
  },
  logRetentionDays: 365,
  throttle: { requestsPerSecond: 200, burst: 400 },
} as const;

/**
 * The tests' own table. In tests it is loaded in place of `lib/environments.ts`, whose rows are the operator's to change:
 * test/jest/table.js, and `copyProject` for processes.
 */
export const { environments, environmentNamed, stacks, stackNamed } = tableOf([
  {
    name: 'eu',
    stackId: 'WalletEu',
    ...production,
    title: 'Europe, production',
    region: 'eu-central-1',
    residencyRegions: ['eu-central-1', 'eu-west-1'],
    zones: ['eu-central-1a', 'eu-central-1b', 'eu-central-1c'],
    vpcCidr: '10.10.0.0/16',
    databaseAccess: 'data-api',
    tokenIssuer: 'https://eu.tests.example',
    multiRegionKeys: true,
    standby: {
      stackId: 'WalletEuStandby',
      region: 'eu-west-1',
      zones: ['eu-west-1a', 'eu-west-1b', 'eu-west-1c'],
      vpcCidr: '10.11.0.0/16',
      globalClusterIdentifier: 'wallet-eu',
    },
  },
  {
    name: 'uae',
    stackId: 'WalletUae',
    ...production,
    title: 'UAE, production',
    region: 'me-central-1',
    residencyRegions: ['me-central-1'],
    zones: ['me-central-1a', 'me-central-1b', 'me-central-1c'],
    vpcCidr: '10.20.0.0/16',
    databaseAccess: 'direct',
    tokenIssuer: 'https://uae.tests.example',
  },
  {
    name: 'staging',
    stackId: 'WalletStaging',
    title: 'Staging, test funds only',
    region: 'eu-west-3',
    residencyRegions: ['eu-west-3'],
    zones: ['eu-west-3a', 'eu-west-3b', 'eu-west-3c'],
    vpcCidr: '10.30.0.0/16',
    ...all,
    serviceLevelAgreement: false,
    testFundsOnly: true,
    deprecation: { since: '2026-11-20' },
    databaseAccess: 'data-api',
    database: {
      capacity: { minimum: 0, maximum: 4 },
      pauseAfterMinutes: 15,
      readers: 0,
      backupRetentionDays: 7,
      deletionProtection: false,
    },
    logRetentionDays: 30,
    throttle: { requestsPerSecond: 100, burst: 200 },
    tokenIssuer: 'https://staging.tests.example',
  },
]);
