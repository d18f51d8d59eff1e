import type { Check } from './check';
import { databaseChecks } from './database';
import { deployedChecks } from './deployed';
import { quotaChecks } from './quotas';
import { regionChecks } from './region';
import { rowChecks } from './row';
import { standbyChecks } from './standby';

export const checks: readonly Check[] = [
  ...rowChecks,
  ...regionChecks,
  ...quotaChecks,
  ...databaseChecks,
  ...deployedChecks,
  ...standbyChecks,
];
