import type { Input, OperationErrorCode, OperationName, OperationResult } from '../domain/operations';
import { urlRefusals } from '../domain/receiver-url';
import { AwsCallFailed, callAws } from './aws';
import { CommandFailed, UsageError } from './failure';
import { readFields } from './json';
import { poll } from './poll';
import type { Target } from './target';

/** The operations function refused the operation; `code` says why. */
export class OperationRefused extends CommandFailed {
  constructor(
    readonly code: OperationErrorCode,
    message: string,
  ) {
    super(message);
  }
}

interface Answer<Name extends OperationName> {
  readonly result?: OperationResult<Name>;
  readonly error?: { readonly code: OperationErrorCode; readonly message: string };
  /** Of a function that crashed. */
  readonly errorMessage?: string;
}

/**
 * Runs an operation of the region's operations function (`lambda/run-operation`). Needs `lambda:InvokeFunction` on it.
 *
 * @throws OperationRefused, or UsageError for invalid input, with the function's own message; CommandFailed without an answer
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
      `The operations function failed at ${operation}: ${errorMessage ?? FunctionError}.`,
      `The reason is in its log in ${target.logs}.`,
    );
  if (result) return result;
  if (!error)
    throw new CommandFailed(
      'The operations function did not answer as this version expects.',
      'Deploy this version, or use the command line of the deployed version.',
    );
  const { code, message } = error;
  if (code === 'input_invalid' || code in urlRefusals) throw new UsageError(message);
  throw new OperationRefused(code, message);
}

/**
 * A function in a VPC that nobody called for weeks has lost its network interfaces: its first invocation fails and
 * creates new ones, in a minute or two. https://docs.aws.amazon.com/lambda/latest/dg/functions-states.html
 */
async function invoke(target: Target, payload: string) {
  const { Lambda } = await import('@aws-sdk/client-lambda');
  // One attempt: an invocation whose answer was lost may have changed something.
  const client = new Lambda({ ...target.clientSettings('lambda'), maxAttempts: 1 });
  const FunctionName = target.output('OperationsFunctionName');
  const request = { FunctionName, Payload: Buffer.from(payload) };
  let pending: unknown;
  const invokeIfActive = async () => {
    try {
      return await callAws(target, 'lambda:InvokeFunction', (options) => client.invoke(request, options));
    } catch (error) {
      if (!isPending(error)) throw error;
      if (!pending) target.note(`Lambda creates the network interfaces of ${FunctionName}: waiting …`);
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
