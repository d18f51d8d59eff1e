import { type Environment, environments } from '../../lib/environments';

const { standby: _, alarmEmail: __, ...row } = environments[0] as Environment;

/** An additional row: deprecated, and without a service level agreement. */
export const madeUp: Environment = {
  ...row,
  name: 'made-up',
  stackId: 'WalletMadeUp',
  region: 'ca-central-1',
  serviceLevelAgreement: false,
  testFundsOnly: true,
  deprecation: { since: '2026-11-20' },
};

// Each test file has a table of its own.
(environments as Environment[]).push(madeUp);
