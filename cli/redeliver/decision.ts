import { readFields } from '../json';
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
 * stays. What SQS moved itself still has the times of its earlier attempts: they are dropped, so that its 72 hours restart.
 *
 * @param only a webhook; deliveries to others are ignored. @default - all
 */
export function decideOnDelivery(
  stateOf: (webhookId: string) => Promise<WebhookState>,
  only: string | undefined,
): Decide {
  return async ({ body }) => {
    const { startedAt: _, notBefore: __, ...delivery } = readFields(body);
    if (!isDelivery(delivery))
      return only ? { kind: 'ignore' } : { kind: 'keep', because: 'it is not a delivery' };
    const { webhookId } = delivery;
    if (only && webhookId !== only) return { kind: 'ignore' };
    const state = await stateOf(webhookId);
    if (state !== 'enabled') return { kind: 'keep', webhookId, because: `its webhook is ${state}` };
    return { kind: 'redeliver', webhookId, redelivery: { body: JSON.stringify(delivery), group: webhookId } };
  };
}

/** Decides on events. One that was set aside with a reason could not be read, and would return at once. */
export const decideOnEvent: Decide = async ({ body, reason }) => {
  const organizationId = readFields(body).organizationId;
  if (reason !== undefined) return { kind: 'keep', because: 'it cannot be read' };
  if (typeof organizationId !== 'string') return { kind: 'keep', because: 'it is not an event' };
  return { kind: 'redeliver', redelivery: { body, group: organizationId } };
};

/** The same as `parseDelivery` of the functions (a test compares them): what that cannot read would return at once. */
function isDelivery(
  fields: Readonly<Record<string, unknown>>,
): fields is { webhookId: string; deliveryId: string; eventId: string; body: string; acceptedAt: number } {
  const { webhookId, deliveryId, eventId, body, acceptedAt } = fields;
  const matches = (value: unknown, pattern: RegExp) => typeof value === 'string' && pattern.test(value);
  return (
    matches(deliveryId, /^msg_[0-9a-f]{32}$/) &&
    matches(webhookId, /^wh-[a-z0-9]{5}-[a-z0-9]{5}-[a-z0-9]{14,16}$/) &&
    matches(eventId, /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/) &&
    matches(body, /./s) &&
    Number.isSafeInteger(acceptedAt) &&
    Math.abs(acceptedAt as number) <= 8.64e15
  );
}
