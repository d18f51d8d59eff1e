import { setTimeout as pause } from 'node:timers/promises';
import type { LambdaClient } from '@aws-sdk/client-lambda';
import { AwsCallFailed, callAws } from './aws';
import { CommandFailed } from './failure';
import type { Target } from './target';

/** Milliseconds. Network interfaces take a minute or two. */
const patience = 5 * 60_000;
/** Milliseconds between two questions. */
const interval = 2_000;

/**
 * Invokes a function. One in a VPC that nobody called for weeks has lost its network interfaces: its first invocation
 * fails and has them made. Then this waits until the function is active, and invokes it once more; without
 * `lambda:GetFunctionConfiguration`, until an invocation is taken.
 * https://docs.aws.amazon.com/lambda/latest/dg/functions-states.html
 *
 * @throws CommandFailed when it is not active after five minutes
 */
export async function whenActive<T>(
  target: Target,
  client: LambdaClient,
  { FunctionName }: { readonly FunctionName: string | undefined },
  invoke: () => Promise<T>,
): Promise<T> {
  try {
    return await invoke();
  } catch (error) {
    if (!isPending(error)) throw error;
  }
  target.note(`Lambda makes the network interfaces of ${FunctionName}: waiting until it is active …`);
  const giveUp = Date.now() + patience;
  while (Date.now() < giveUp) {
    await pause(interval);
    const state = await readState();
    if (state === 'Pending') continue;
    try {
      return await invoke();
    } catch (error) {
      if (!isPending(error)) throw error;
    }
  }
  throw new CommandFailed(
    `${FunctionName} is not active after ${patience / 60_000} minutes.`,
    `See why: aws lambda get-function-configuration --function-name ${FunctionName} --region ${target.environment.region} --query '[State,StateReason]'`,
  );

  /** @returns undefined when it may not be asked */
  async function readState(): Promise<string | undefined> {
    const { GetFunctionConfigurationCommand } = await import('@aws-sdk/client-lambda');
    try {
      const { State } = await callAws(target, 'lambda:GetFunctionConfiguration', (options) =>
        client.send(new GetFunctionConfigurationCommand({ FunctionName }), options),
      );
      return State;
    } catch (error) {
      if (error instanceof AwsCallFailed) return undefined;
      throw error;
    }
  }
}

/**
 * Whether Lambda refused to invoke the function, which has done nothing then, because it is not ready yet.
 * https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html#API_Invoke_Errors,
 * https://github.com/boto/boto3/issues/3788
 */
const isPending = (error: unknown): boolean =>
  error instanceof AwsCallFailed &&
  (notReady.has(error.errorName) ||
    (error.errorName === 'ResourceConflictException' && /\bPending\b/.test(error.message)));

const notReady = new Set([
  'ResourceNotReadyException',
  'CodeArtifactUserPendingException',
  'ENINotReadyException',
]);
