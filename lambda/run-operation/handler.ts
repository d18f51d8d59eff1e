import * as v from 'valibot';
import { inputs, type OperationError, type OperationName } from '../../domain/operations';
import { localReceiversVariable } from '../../domain/receiver-url';
import { fail, type Result } from '../../domain/result';
import { isObject } from '../../domain/strict-json';
import { connectDatabase } from '../database/connect';
import { bindDependencies } from '../shared/bind-dependencies';
import { createLog, logCodes } from '../shared/log';
import { readVariables } from '../shared/variables';
import { deliveries } from './deliveries';
import type { Operations, Ports } from './operation';
import { organizations } from './organizations';
import { variables } from './variables';
import { webhooks } from './webhooks';

export function createDependencies() {
  const { ENVIRONMENT, API_BASE_URL, DASHBOARD_URL } = readVariables(variables, process.env);
  const ports: Ports = {
    database: connectDatabase(process.env),
    environment: ENVIRONMENT,
    apiUrl: API_BASE_URL,
    dashboardUrl: DASHBOARD_URL,
    localReceivers: process.env[localReceiversVariable] === 'allowed',
  };
  return { ports, log: createLog('run-operation') };
}

export type Dependencies = ReturnType<typeof createDependencies>;

const operations: Operations = { ...organizations, ...webhooks, ...deliveries };

/** The invocation's result. A bug throws: Lambda's `FunctionError`. */
export type Response =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: OperationError };

/** `{"operation": NAME, "input": {…}}`. IAM controls access: `lambda:InvokeFunction` on this function. */
export const createHandler =
  ({ ports, log }: Dependencies) =>
  async (payload: unknown): Promise<Response> => {
    if (!isObject(payload) || typeof payload.operation !== 'string') {
      return invalid('The payload must be {"operation": NAME, "input": {…}}.');
    }
    const { operation, input = {} } = payload;
    const outcome = isKnown(operation) ? await run(operation, input, ports) : unknown(operation);
    if (!outcome.ok) {
      const { code } = outcome.error;
      log.warn('Operation refused', { logCode: logCodes.operationRefused, operation, code });
      return outcome;
    }
    log.info('Operation completed', { logCode: logCodes.operationCompleted, operation });
    return { ok: true, result: outcome.value };
  };

async function run(
  operation: OperationName,
  input: unknown,
  ports: Ports,
): Promise<Result<unknown, OperationError>> {
  const fields = inputs[operation];
  const read = v.safeParse(v.strictObject(fields), input, { abortEarly: true });
  if (!read.success) return invalid(problemOf(read.issues[0], Object.keys(fields)));
  const outcome = await operations[operation](read.output as never, ports);
  if (outcome.ok || 'code' in outcome.error) return outcome as Result<unknown, OperationError>;
  const { kind: code, reason } = outcome.error;
  return fail({
    code,
    message: `The database did not respond in time (${reason}). The change may have been made: check before you retry.`,
  });
}

function problemOf(issue: v.BaseIssue<unknown>, fields: readonly string[]): string {
  const field = issue.path?.[0]?.key;
  if (field === undefined) return '"input" must be an object.';
  if (!fields.includes(String(field)))
    return `"${field}" is not a field of this operation. It has: ${fields.join(', ')}.`;
  return issue.type === 'strict_object' ? `"${field}" is missing.` : `"${field}" must be ${issue.message}.`;
}

const invalid = (message: string) => ({ ok: false, error: { code: 'input_invalid', message } }) as const;

const isKnown = (name: string): name is OperationName => Object.hasOwn(operations, name);

const unknown = (operation: string) =>
  fail<OperationError>({
    code: 'unknown_operation',
    message: `There is no operation "${operation}". Known: ${Object.keys(operations).sort().join(', ')}.`,
  });

export const handler = bindDependencies(createHandler, createDependencies);
