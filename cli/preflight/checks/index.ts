import type { Check } from '../check';
import { accountChecks } from './account';
import { databaseChecks } from './database';
import { functionChecks } from './functions';
import { health } from './health';
import { originAddress } from './origin-address';
import { quotaChecks } from './quotas';
import { restore } from './restore';
import { stackChecks } from './stack';
import { zones } from './zones';

/** All of them, in the order in which they are told. One more is one more entry. */
export const checks: readonly Check[] = [
  ...accountChecks,
  ...stackChecks,
  zones,
  ...quotaChecks,
  ...functionChecks,
  ...databaseChecks,
  restore,
  originAddress,
  health,
];
