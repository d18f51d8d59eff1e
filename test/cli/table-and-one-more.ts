import type { Environment } from '../../lib/environment';

export const {
  environments: table,
  accessTokenLifetime,
  stacksOf,
} = jest.requireActual<typeof import('../../lib/environments')>('../../lib/environments');
const { standby: _, alarmEmail: __, ...row } = table[0] as Environment;

/** A row that the table need not have: deprecated, and without a service level agreement. */
export const madeUp: Environment = {
  ...row,
  name: 'made-up',
  stackId: 'WalletMadeUp',
  region: 'ca-central-1',
  serviceLevelAgreement: false,
  testFundsOnly: true,
  deprecation: { since: '2026-11-20' },
};

/** In place of those of `lib/environments`, for commands in the test's own process. */
export const environments: readonly Environment[] = [...table, madeUp];
