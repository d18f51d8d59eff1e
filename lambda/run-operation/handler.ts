import type { OperationError, OperationName } from '../../domain/operations';
import { localReceiversVariable } from '../../domain/receiver-url';
import { fail } from '../../domain/result';
import { isObject } from '../../domain/strict-json';
import { connectDatabase } from '../database/connect';
import { bind } from '../shared/bind';
import { readVariables } from '../shared/environment';
import { createLog, logCodes } from '../shared/log';
import { deliveries } from './deliveries';
import { variables } from './environment';
import { invalid, type Operation, type Ports } from './operation';
import { organizations } from './organizations';
import { webhooks } from './webhooks';

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

const operations: Readonly<Record<OperationName, Operation>> = {
  ...organizations,
  ...webhooks,
  ...deliveries,
};

/** What an invocation returns. A bug is a thrown error: Lambda's `FunctionError`. */
export type Response =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: OperationError };

/**
 * Does what an operator's command asks: `{"operation": NAME, "input": {…}}`; no input is an empty one. Who may ask is
 * decided by IAM: `lambda:InvokeFunction` on this function.
 */
export const createHandler =
  ({ ports, log }: Dependencies) =>
  async (payload: unknown): Promise<Response> => {
    if (!isObject(payload) || typeof payload.operation !== 'string') {
      return invalid('The payload must be {"operation": NAME, "input": {…}}.');
    }
    const { operation, input = {} } = payload;
    const outcome = isKnown(operation) ? await operations[operation](input, ports) : unknown(operation);
    if (!outcome.ok) {
      const { code } = outcome.error;
      log.warn('Operation refused', { logCode: logCodes.operationRefused, operation, code });
      return outcome;
    }
    log.info('Operation completed', { logCode: logCodes.operationCompleted, operation });
    return { ok: true, result: outcome.value };
  };

const isKnown = (name: string): name is OperationName => Object.hasOwn(operations, name);

const unknown = (operation: string) =>
  fail<OperationError>({
    code: 'unknown_operation',
    message: `There is no operation "${operation}". Known: ${Object.keys(operations).sort().join(', ')}.`,
  });

export const handler = bind(createHandler, createDependencies);
