import { databaseFaults } from './database-faults';
import type { FaultKind } from './kind';
import { sharedFaults } from './shared-faults';

export const faultKinds: readonly FaultKind[] = [...databaseFaults, ...sharedFaults];
