import { randomUUID } from 'node:crypto';
import { callAws } from '../aws';
import type { OriginApis } from './apis';
import { type OriginStack, zoneParameter } from './stack';

const tokenPrefix = 'wallet-move-origin-to-';

/** Names an update of this command: what it is for, and that it is this one. CloudFormation takes a token once. */
const updateToken = (zone: string): string => `${tokenPrefix}${zone}-${randomUUID()}`;

/** The zone that an update with this token leads to; `undefined` for other updates. */
export const zoneOfToken = (token: string | undefined): string | undefined =>
  token?.startsWith(tokenPrefix) ? token.slice(tokenPrefix.length).split('-')[0] : undefined;

/**
 * Begins the update of the stack's zone, and of nothing else: same template, same other parameters. Role, tags,
 * notifications and rollback triggers stay because they are left out. A lost answer is asked for again by the token.
 *
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_UpdateStack.html
 *
 * @returns the update's token; `undefined` when another update has changed the stack, or runs, since it was read
 */
export async function updateZone(
  { cloudFormation, target }: OriginApis,
  stack: OriginStack,
  zone: string,
): Promise<string | undefined> {
  const { UpdateStackCommand } = await import('@aws-sdk/client-cloudformation');
  const token = updateToken(zone);
  const update = new UpdateStackCommand({
    StackName: stack.id,
    UsePreviousTemplate: true,
    // A parameter that is left out would go back to its default.
    Parameters: stack.parameters.map((name) =>
      name === zoneParameter
        ? { ParameterKey: name, ParameterValue: zone }
        : { ParameterKey: name, UsePreviousValue: true },
    ),
    Capabilities: stack.capabilities,
    ClientRequestToken: token,
  });
  return callAws(target, 'cloudformation:UpdateStack', async (options) => {
    try {
      await cloudFormation.send(update, options);
      return token;
    } catch (error) {
      if (isOvertaken(error)) return undefined;
      throw error;
    }
  });
}

/** The stack has that zone already, or is being updated. Only the words tell them from other errors of this name. */
const isOvertaken = (error: unknown): boolean =>
  error instanceof Error &&
  error.name === 'ValidationError' &&
  /No updates are to be performed|is in \w+_IN_PROGRESS state and can ?not be updated/.test(error.message);
