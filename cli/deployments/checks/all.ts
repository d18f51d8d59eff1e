import type { Check } from './check';
import { databaseChecks } from './database';
import { deployedChecks } from './deployed';
import { regionChecks } from './region';
import { rowChecks } from './row';
import { standbyChecks } from './standby';

export const checks: readonly Check[] = [
  ...rowChecks,
  ...regionChecks,
  ...databaseChecks,
  ...deployedChecks,
  ...standbyChecks,
];
