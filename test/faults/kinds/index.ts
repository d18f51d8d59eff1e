import { connectionsExhausted, databaseFrozen, databaseKilled, databaseSlow, diskFull } from './database';
import type { FaultKind } from './kind';
import { clockStepped, functionsKilled, queuesReset, receiversMisbehaving } from './surroundings';

export type { FaultKind } from './kind';

export const faultKinds: readonly FaultKind[] = [
  databaseKilled,
  databaseFrozen,
  databaseSlow,
  connectionsExhausted,
  diskFull,
  functionsKilled,
  queuesReset,
  receiversMisbehaving,
  clockStepped,
];
