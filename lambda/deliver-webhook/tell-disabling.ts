import { type Disabling, disabledEvent } from '../../domain/event';
import { fail, ok, type Result } from '../../domain/result';
import type { DatabaseUnavailable } from '../database/database';
import type { Queue, QueueUnavailable } from '../webhooks/queue';

/** A disabling of which the organization may not have been told. */
export interface UntoldDisabling extends Disabling {
  /** Whether whoever disabled it has had its time to tell, `timeoutSeconds`: so long the others do not tell the same. */
  readonly due: boolean;
}

/** Another delivery, or an operator's command, is telling it at this moment. */
export interface BeingTold {
  readonly kind: 'disabling_being_told';
  readonly reason: string;
}

export interface TellPorts {
  readonly events: Pick<Queue, 'send'>;
  readonly webhooks: {
    /** Remembers that it was told. */
    told(disabling: Disabling): Promise<Result<unknown, DatabaseUnavailable>>;
  };
  readonly deliveryLog: { disabled(disabling: Disabling, eventId: string): void };
}

/**
 * Sends the event `webhook.disabled`, then remembers it. A function that dies in between has its message again, finds the
 * disabling untold, and sends the same event again, with the same id.
 */
export async function tellDisabling(
  disabling: Disabling,
  { events, webhooks, deliveryLog }: TellPorts,
): Promise<Result<unknown, DatabaseUnavailable | QueueUnavailable>> {
  const event = disabledEvent(disabling);
  const sent = await events.send([{ body: event.text, group: disabling.organizationId }]);
  if (!sent.ok) return sent;
  deliveryLog.disabled(disabling, event.id);
  return webhooks.told(disabling);
}

/** Before a delivery to a disabled webhook is dropped: tells what nobody has told, or has the delivery wait until it is. */
export async function settleDisabling(
  untold: UntoldDisabling | undefined,
  ports: TellPorts,
): Promise<Result<unknown, DatabaseUnavailable | QueueUnavailable | BeingTold>> {
  if (!untold) return ok(null);
  if (untold.due) return tellDisabling(untold, ports);
  return fail({ kind: 'disabling_being_told', reason: untold.webhookId });
}
