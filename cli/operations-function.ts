import type { Lambda } from '@aws-sdk/client-lambda';
import {
  type Input,
  type OperationErrorCode,
  type OperationName,
  type OperationResult,
  resultFields,
} from '../domain/operations';
import { urlRefusals } from '../domain/receiver-url';
import { AwsCallFailed, callAws, unlessRefused } from './aws';
import { CommandFailed } from './failure';
import { readFields } from './json';
import { poll } from './poll';
import type { Target } from './target';

/** The operations function would not do what it was asked; `code` says why. */
export class OperationRefused extends CommandFailed {
  constructor(
    readonly code: OperationErrorCode,
    message: string,
  ) {
    super(message);
  }

  /** Of a value that it would refuse whatever there is, the command was used wrongly. */
  override get exitCode() {
    return this.code === 'input_invalid' || this.code in urlRefusals ? 2 : 1;
  }
}

/**
 * Has the region's operations function (`lambda/run-operation`) do something. Needs `lambda:InvokeFunction` on it.
 *
 * @throws OperationRefused with the function's own message; CommandFailed when it does not answer.
 */
export async function runOperation<Name extends OperationName>(
  target: Target,
  operation: Name,
  input: Input<Name>,
): Promise<OperationResult<Name>> {
  const { Lambda } = await import('@aws-sdk/client-lambda');
  // One attempt: an invocation whose answer was lost may have changed something.
  const client = new Lambda({ ...target.clientSettings('lambda'), maxAttempts: 1 });
  const invocation = {
    FunctionName: target.output('OperationsFunctionName'),
    Payload: Buffer.from(JSON.stringify({ operation, input })),
  };
  const { FunctionError, Payload } = await whenActive(target, client, () =>
    callAws(target, 'lambda:InvokeFunction', (options) => client.invoke(invocation, options)),
  );
  const result = readAnswer(Buffer.from(Payload ?? []).toString(), FunctionError, {
    operation,
    input,
    logs: target.logs,
  });
  const field = resultFields[operation];
  if (!Object.hasOwn(result, field)) throw otherVersion(`without ${String(field)}`);
  return result as OperationResult<Name>;
}

function readAnswer(payload: string, functionError: string | undefined, { operation, input, logs }: Asked) {
  const answer: Answer = readFields(payload);
  if (functionError) {
    throw new CommandFailed(
      `The operations function failed at ${operation}: ${answer.errorMessage ?? functionError}.`,
      `The reason is in its log in ${logs}.`,
    );
  }
  if (answer.ok === true && answer.result) return answer.result;
  if (answer.ok === false && answer.error) {
    const { code, message } = answer.error;
    throw new OperationRefused(
      code,
      code in urlRefusals ? `${withoutPassword(Object(input).url)}: ${message}` : message,
    );
  }
  throw otherVersion('that is not an answer');
}

const withoutPassword = (url: unknown) => String(url).replace(/\/\/[^/]*@/, '//…@');

interface Asked {
  readonly operation: string;
  readonly input: object;
  readonly logs: string;
}

interface Answer {
  readonly ok?: boolean;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: OperationErrorCode; readonly message: string };
  readonly errorMessage?: string;
}

const otherVersion = (what: string) =>
  new CommandFailed(
    `The operations function answered something ${what}.`,
    'It is of another version: deploy this one, or use the command line of that version.',
  );

/**
 * Invokes the function. One in a VPC that nobody called for weeks has lost its network interfaces: its first invocation
 * fails and has them made, in a minute or two. Then this waits until the function is active, and invokes it once more;
 * without `lambda:GetFunctionConfiguration`, until an invocation is taken.
 * https://docs.aws.amazon.com/lambda/latest/dg/functions-states.html
 *
 * @throws CommandFailed when it is not active after five minutes
 */
async function whenActive<T>(target: Target, client: Lambda, invoke: () => Promise<T>): Promise<T> {
  const invokeIfReady = async () => {
    try {
      return { answer: await invoke() };
    } catch (error) {
      if (isPending(error)) return undefined;
      throw error;
    }
  };
  const first = await invokeIfReady();
  if (first) return first.answer;
  const FunctionName = target.output('OperationsFunctionName');
  target.note(`Lambda makes the network interfaces of ${FunctionName}: waiting until it is active …`);
  const ask = async () => {
    const configuration = await unlessRefused(/./, () =>
      callAws(target, 'lambda:GetFunctionConfiguration', (options) =>
        client.getFunctionConfiguration({ FunctionName }, options),
      ),
    );
    return configuration?.State === 'Pending' ? undefined : invokeIfReady();
  };
  const later = await poll(ask, { seconds: 300, every: 2_000 });
  if (later) return later.answer;
  throw new CommandFailed(
    `${FunctionName} is not active after 5 minutes.`,
    `See why: aws lambda get-function-configuration --function-name ${FunctionName} --region ${target.environment.region} --query '[State,StateReason]'`,
  );
}

/**
 * Whether Lambda refused to invoke the function, which has done nothing then, because it is not ready yet.
 * https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html#API_Invoke_Errors,
 * https://github.com/boto/boto3/issues/3788
 */
const isPending = (error: unknown): boolean =>
  error instanceof AwsCallFailed &&
  (/^(ResourceNotReady|CodeArtifactUserPending|ENINotReady)Exception$/.test(error.errorName) ||
    (error.errorName === 'ResourceConflictException' && /\bPending\b/.test(error.message)));
