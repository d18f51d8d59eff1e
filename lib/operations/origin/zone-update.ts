import { randomUUID } from 'node:crypto';
import { callAws } from '../aws';
import { type OriginStack, type StackApi, zoneParameter } from './stack';

/** What CloudFormation said to an update of the zone. */
export type UpdateAnswer =
  | { readonly kind: 'accepted'; readonly token: string }
  /** The stack has that zone already. */
  | { readonly kind: 'nothing-to-update' }
  /** Another update has begun since the stack was looked at. */
  | { readonly kind: 'busy' };

const tokenPrefix = 'wallet-move-origin-to-';

/** Names an update of this command: what it is for, and that it is this one. CloudFormation takes a token once. */
const updateToken = (zone: string): string => `${tokenPrefix}${zone}-${randomUUID()}`;

/** The zone that an update with this token leads to; `undefined` for updates of somebody else. */
export const zoneOfToken = (token: string | undefined): string | undefined =>
  token?.startsWith(tokenPrefix) ? token.slice(tokenPrefix.length).split('-')[0] : undefined;

/**
 * Begins the update of the stack's zone, and of nothing else: same template, same other parameters. Role, tags,
 * notifications and rollback triggers stay because they are left out. A lost answer is asked for again by the token.
 *
 * https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_UpdateStack.html
 */
export async function updateZone(api: StackApi, stack: OriginStack, zone: string): Promise<UpdateAnswer> {
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
  return callAws(api.target, 'cloudformation:UpdateStack', async (options) => {
    try {
      await api.client.send(update, options);
      return { kind: 'accepted', token };
    } catch (error) {
      const refusal = readRefusal(error);
      if (refusal) return { kind: refusal };
      throw error;
    }
  });
}

/** Both are a `ValidationError`, which only its words tell apart from other ones. */
function readRefusal(error: unknown): 'nothing-to-update' | 'busy' | undefined {
  if (!(error instanceof Error) || error.name !== 'ValidationError') return undefined;
  if (error.message.includes('No updates are to be performed')) return 'nothing-to-update';
  return /is in \w+_IN_PROGRESS state and can ?not be updated/.test(error.message) ? 'busy' : undefined;
}
