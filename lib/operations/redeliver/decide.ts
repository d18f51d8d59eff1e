import { parseDelivery } from '../../../lambda/webhooks/delivery';
import type { DeadLetter, Redelivery } from './dead-letter-queue';

/** What to do with a dead letter. */
export type Decision =
  | { readonly kind: 'redeliver'; readonly webhookId?: string; readonly redelivery: Redelivery }
  /** It stays where it is; `because` is for the operator. */
  | { readonly kind: 'keep'; readonly webhookId?: string; readonly because: string }
  /** It is of no concern to this run. */
  | { readonly kind: 'ignore' };

export type Decide = (letter: DeadLetter) => Promise<Decision>;

export type WebhookState = 'enabled' | 'disabled' | 'removed';

/**
 * Decides on deliveries that were given up. One whose webhook is disabled or removed would be dropped on its way, so it
 * stays. What SQS moved itself still has the times of its earlier attempts: without them, it begins anew.
 *
 * @param only a webhook; deliveries to others are ignored. @default - all
 */
export function decideOnDelivery(
  stateOf: (webhookId: string) => Promise<WebhookState>,
  only: string | undefined,
): Decide {
  return async ({ body }) => {
    const read = parseDelivery(body);
    if (!read.ok) return only ? { kind: 'ignore' } : { kind: 'keep', because: 'it is not a delivery' };
    const { startedAt: _, notBefore: __, ...delivery } = read.value;
    const { webhookId } = delivery;
    if (only && webhookId !== only) return { kind: 'ignore' };
    const state = await stateOf(webhookId);
    if (state !== 'enabled') return { kind: 'keep', webhookId, because: `its webhook is ${state}` };
    return { kind: 'redeliver', webhookId, redelivery: { body: JSON.stringify(delivery), group: webhookId } };
  };
}

/** Decides on events. One that was set aside with a reason could not be read, and would come straight back. */
export const decideOnEvent: Decide = async ({ body, reason }) => {
  const organizationId = readObject(body)?.organizationId;
  if (reason !== undefined) return { kind: 'keep', because: 'it cannot be read' };
  if (typeof organizationId !== 'string') return { kind: 'keep', because: 'it is not an event' };
  return { kind: 'redeliver', redelivery: { body, group: organizationId } };
};

function readObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
