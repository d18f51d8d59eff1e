import { createHash } from 'node:crypto';

/** A webhook that was disabled. */
export interface Disabling {
  readonly webhookId: string;
  readonly organizationId: string;
  /** `gone`: its receiver answered 410. `operator`: a command. */
  readonly reason: string;
  /** Milliseconds since 1970. */
  readonly disabledAt: number;
}

/**
 * The event by which an organization is told: its id is the same however often it is sent for one disabling. It has no URL,
 * which may carry a token.
 */
export function disabledEvent({ webhookId, organizationId, reason, disabledAt }: Disabling): {
  readonly id: string;
  /** For the events queue. */
  readonly text: string;
} {
  const digest = createHash('sha256').update(`webhook.disabled\n${webhookId}\n${disabledAt}`).digest('hex');
  const id = `evt_${digest.slice(0, 32)}`;
  const date = new Date(disabledAt).toISOString();
  const data = { webhookId, reason };
  return { id, text: JSON.stringify({ id, organizationId, kind: 'webhook.disabled', date, data }) };
}
