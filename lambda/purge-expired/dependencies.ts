import { connectDatabase } from '../database/connect';
import { createLog } from '../shared/log';
import { createExpiring } from './expiring-tables';

export function createDependencies() {
  return {
    expiring: createExpiring(connectDatabase(process.env)),
    log: createLog('purge-expired'),
    now: Date.now,
  };
}

export type Dependencies = ReturnType<typeof createDependencies>;
