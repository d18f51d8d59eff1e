import type { OperationError } from '../../domain/operations';
import { bind } from '../shared/bind';
import { logCodes } from '../shared/log';
import { createDependencies, type Dependencies } from './dependencies';
import { readRequest } from './request';
import { runOperation } from './run-operation';

/** What an invocation returns. A bug is a thrown error: Lambda's `FunctionError`. */
export type Response =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly error: OperationError };

/** Does what an operator's command asks. Who may ask is decided by IAM: `lambda:InvokeFunction` on this function. */
export const createHandler =
  ({ ports, log }: Dependencies) =>
  async (payload: unknown): Promise<Response> => {
    const request = readRequest(payload);
    if (!request.ok) return request;

    const { operation } = request.value;
    const outcome = await runOperation(request.value, ports);
    if (!outcome.ok) {
      const { code } = outcome.error;
      log.warn('Operation refused', { logCode: logCodes.operationRefused, operation, code });
      return outcome;
    }
    log.info('Operation completed', { logCode: logCodes.operationCompleted, operation });
    return { ok: true, result: outcome.value };
  };

export const handler = bind(createHandler, createDependencies);
