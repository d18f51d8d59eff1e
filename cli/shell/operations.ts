import type { Input, OperationError, OperationName, OperationResult } from '../../domain/operations';
import { newUrlRefusals } from '../../domain/receiver-url';
import { callAws } from './aws';
import type { DeployedEnvironment } from './deployed-environment';
import { CommandFailed, UsageError } from './failure';
import { readFields } from './json';

export class OperationRefused extends CommandFailed {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

interface Answer<Name extends OperationName> {
  readonly result?: OperationResult<Name>;
  readonly error?: OperationError;
  /** Present if the function crashed. */
  readonly errorMessage?: string;
}

/** @throws OperationRefused, UsageError for invalid input, or CommandFailed if the function does not respond */
export async function runOperation<Name extends OperationName>(
  target: DeployedEnvironment,
  operation: Name,
  input: Input<Name>,
): Promise<OperationResult<Name>> {
  const { Lambda } = await import('@aws-sdk/client-lambda');
  // No retries: an invocation that got no response may have changed data.
  const client = new Lambda({ ...target.clientSettings('lambda'), maxAttempts: 1 });
  const { FunctionError, Payload } = await callAws(client, 'invoke', {
    FunctionName: target.output('OperationsFunctionName'),
    Payload: Buffer.from(JSON.stringify({ operation, input })),
  });
  const { result, error, errorMessage }: Answer<Name> = readFields(Buffer.from(Payload ?? []).toString());
  if (FunctionError)
    throw new CommandFailed(
      `The operations function failed to run ${operation}: ${errorMessage ?? FunctionError}.`,
      `See its log in ${target.logs}.`,
    );
  if (result) return result;
  if (!error)
    throw new CommandFailed(
      'The response of the operations function does not match this version.',
      'Deploy this version, or use the command line of the deployed version.',
    );
  const { code, message } = error;
  if (code === 'input_invalid' || code in newUrlRefusals) throw new UsageError(message);
  throw new OperationRefused(code, message);
}
