import { callAws } from '../aws';
import type { OriginApis } from './apis';
import { operationToken } from './operation-token';
import type { Place } from './place';
import { type OriginStack, reserveParameter, zoneParameter } from './stack';

/**
 * Begins the update of the origin's place, and of nothing else: same template, same other parameters. Role, tags,
 * notifications and rollback triggers stay because they are left out. A lost answer is asked for again by the token.
 *
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_UpdateStack.html
 *
 * @returns the update's token; `undefined` when another update has changed the stack, or runs, since it was read
 */
export async function updatePlace(
  { cloudFormation, target }: OriginApis,
  stack: OriginStack,
  place: Place,
): Promise<string | undefined> {
  const { UpdateStackCommand } = await import('@aws-sdk/client-cloudformation');
  const token = operationToken({ kind: 'update', place });
  const values = new Map([
    [zoneParameter, place.zone],
    [reserveParameter, place.reserve ? 'yes' : 'no'],
  ]);
  const update = new UpdateStackCommand({
    StackName: stack.id,
    UsePreviousTemplate: true,
    // A parameter that is left out would go back to its default.
    Parameters: stack.parameters.map((name) =>
      values.has(name)
        ? { ParameterKey: name, ParameterValue: values.get(name) }
        : { ParameterKey: name, UsePreviousValue: true },
    ),
    Capabilities: stack.capabilities,
    ClientRequestToken: token,
  });
  return callAws(target, 'cloudformation:UpdateStack', (options) =>
    unlessOvertaken(token, cloudFormation.send(update, options)),
  );
}

/**
 * Cancels the update that runs: the stack rolls back to where it was.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CancelUpdateStack.html
 *
 * @returns `undefined` when the update is past the point where it can be cancelled
 */
export async function cancelUpdate(
  { cloudFormation, target }: OriginApis,
  stack: OriginStack,
): Promise<string | undefined> {
  const { CancelUpdateStackCommand } = await import('@aws-sdk/client-cloudformation');
  const token = operationToken({ kind: 'cancel' });
  const cancel = new CancelUpdateStackCommand({ StackName: stack.id, ClientRequestToken: token });
  return callAws(target, 'cloudformation:CancelUpdateStack', (options) =>
    unlessOvertaken(token, cloudFormation.send(cancel, options)),
  );
}

/**
 * Continues a rollback that failed, and leaves these resources as they are in EC2 and Lambda. CloudFormation takes only
 * those that are `UPDATE_FAILED` because of the rollback.
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_ContinueUpdateRollback.html
 *
 * @returns the operation's token; `undefined` when another one has begun since
 */
export async function continueRollback(
  { cloudFormation, target }: OriginApis,
  stack: OriginStack,
  resources: readonly string[],
): Promise<string | undefined> {
  const { ContinueUpdateRollbackCommand } = await import('@aws-sdk/client-cloudformation');
  const token = operationToken({ kind: 'skip' });
  const rollback = new ContinueUpdateRollbackCommand({
    StackName: stack.id,
    ResourcesToSkip: [...resources],
    ClientRequestToken: token,
  });
  return callAws(target, 'cloudformation:ContinueUpdateRollback', (options) =>
    unlessOvertaken(token, cloudFormation.send(rollback, options)),
  );
}

async function unlessOvertaken(token: string, sent: Promise<unknown>): Promise<string | undefined> {
  try {
    await sent;
    return token;
  } catch (error) {
    if (isOvertaken(error)) return undefined;
    throw error;
  }
}

/** The stack has that place already, or its state has changed. Only the words tell them from other errors of this name. */
const isOvertaken = (error: unknown): boolean =>
  error instanceof Error &&
  error.name === 'ValidationError' &&
  /No updates are to be performed|is in \w+_IN_PROGRESS state and can ?not be updated|cannot be called from current stack status/.test(
    error.message,
  );
