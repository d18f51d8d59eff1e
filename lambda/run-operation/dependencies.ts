import { localReceiversVariable } from '../../domain/receiver-url';
import { connectDatabase } from '../database/connect';
import { readVariables } from '../shared/environment';
import { createLog } from '../shared/log';
import { variables } from './environment';
import type { Ports } from './operation';

export function createDependencies() {
  const { ENVIRONMENT } = readVariables(variables, process.env);
  const ports: Ports = {
    database: connectDatabase(process.env),
    environment: ENVIRONMENT,
    localReceivers: process.env[localReceiversVariable] === 'allowed',
  };
  return { ports, log: createLog('run-operation') };
}

export type Dependencies = ReturnType<typeof createDependencies>;
