import type { Input, OperationError, OperationName, OperationResult } from '../domain/operations';
import { urlRefusals } from '../domain/receiver-url';
import { AwsCallFailed, ask } from './aws';
import { CommandFailed, UsageError } from './failure';
import { readFields } from './json';
import { poll } from './poll';
import type { Target } from './target';

/** The operations function refused the operation; `code` is the reason. */
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

/**
 * Runs an operation of the region's operations function (`lambda/run-operation`). Needs `lambda:InvokeFunction` on it.
 *
 * @throws OperationRefused, or UsageError for invalid input, with the function's message; CommandFailed if it does not respond
 */
export async function runOperation<Name extends OperationName>(
  target: Target,
  operation: Name,
  input: Input<Name>,
): Promise<OperationResult<Name>> {
  const { FunctionError, Payload } = await invoke(target, JSON.stringify({ operation, input }));
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
  if (code === 'input_invalid' || code in urlRefusals) throw new UsageError(message);
  throw new OperationRefused(code, message);
}

/**
 * Lambda deletes the network interfaces of a function in a VPC that is idle for weeks: its next invocation fails and
 * creates new ones, in a minute or two. https://docs.aws.amazon.com/lambda/latest/dg/functions-states.html
 */
async function invoke(target: Target, payload: string) {
  const { Lambda } = await import('@aws-sdk/client-lambda');
  // No retries: an invocation that got no response may have changed data.
  const client = new Lambda({ ...target.clientSettings('lambda'), maxAttempts: 1 });
  const FunctionName = target.output('OperationsFunctionName');
  const request = { FunctionName, Payload: Buffer.from(payload) };
  let pending: unknown;
  const invokeIfActive = async () => {
    try {
      return await ask(client, 'invoke', request);
    } catch (error) {
      if (!isPending(error)) throw error;
      if (!pending) target.note(`Waiting for Lambda to create the network interfaces of ${FunctionName} …`);
      pending = error;
      return undefined;
    }
  };
  const answer = await poll(invokeIfActive, { seconds: 300, every: 2_000 });
  if (answer) return answer;
  throw pending;
}

/**
 * Whether Lambda refused to invoke the function because it is not ready.
 * https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html#API_Invoke_Errors,
 * https://github.com/boto/boto3/issues/3788
 */
const isPending = (error: unknown): boolean =>
  error instanceof AwsCallFailed &&
  (/^(ResourceNotReady|CodeArtifactUserPending|ENINotReady)Exception$/.test(error.errorName) ||
    (error.errorName === 'ResourceConflictException' && /\bPending\b/.test(error.message)));
