import type { DisabledWebhook, Redelivery } from '../../../domain/event';
import type { AttemptRow, Known, Pause, Recorded, Webhooks } from '../../../lambda/deliver-webhook/ports';
import type { AcceptedEvent, StoredEvent, Subscriber } from '../../../lambda/fan-out-event/fan-out-event';

export interface SimulatedWebhook {
  readonly webhookId: string;
  readonly organizationId: string;
  readonly url: string;
  enabled: boolean;
  disabledReason?: string;
  disabledAt?: number;
  unhealthyAt?: number | undefined;
  pause?: Pause | undefined;
  failures?: number;
  /** The end of the last pause, with the time over which what waits is spread. */
  waitsUntil?: number;
}

/** What PostgreSQL does for the two functions: the cases of test/contract hold it to that. */
export class SimulatedDatabase {
  readonly webhooks = new Map<string, SimulatedWebhook>();
  private readonly byOrganization = new Map<string, SimulatedWebhook[]>();
  readonly events = new Map<string, AcceptedEvent>();
  /** Keyed by series, then by number. */
  readonly attempts = new Map<string, Map<number, AttemptRow>>();

  constructor(private readonly now: () => number) {}

  of(organizationId: string): readonly SimulatedWebhook[] {
    return this.byOrganization.get(organizationId) ?? [];
  }

  addWebhook(webhook: SimulatedWebhook): void {
    this.webhooks.set(webhook.webhookId, webhook);
    this.byOrganization.set(webhook.organizationId, [...this.of(webhook.organizationId), webhook]);
  }

  find({ webhookId, deliveryId, series = '', mayTry = false }: Parameters<Webhooks['find']>[0]): Known {
    const webhook = this.webhooks.get(webhookId);
    const isTrial = mayTry && webhook?.pause !== undefined && webhook.pause.until <= this.now();
    if (isTrial && webhook?.pause) webhook.pause = { ...webhook.pause, until: this.now() + 30_000 };
    const rows = [...(this.attempts.get(`${deliveryId} ${series}`)?.values() ?? [])];
    const latest = rows.reduce<AttemptRow | undefined>(
      (highest, row) => (highest && highest.number > row.number ? highest : row),
      undefined,
    );
    const last = rows.find(({ outcome }) => outcome !== 'failed') ?? latest;
    return {
      ...(webhook && { webhook: this.stored(webhook) }),
      ...(isTrial && { isTrial }),
      ...(last && {
        last: {
          number: last.number,
          ...(last.copy !== undefined && { copy: last.copy }),
          ...(last.successor && { successor: last.successor }),
        },
      }),
    };
  }

  private stored({ webhookId, url, enabled, unhealthyAt, pause }: SimulatedWebhook) {
    const disabling = this.findDisabledWebhook(webhookId);
    const unhealthy = unhealthyAt !== undefined;
    return {
      url,
      enabled,
      unhealthy,
      secretVersion: 1,
      ...(disabling && { disabling }),
      ...(pause && { pause }),
    };
  }

  record(attempts: readonly AttemptRow[]): readonly Recorded[] {
    const written = new Set<AttemptRow>();
    for (const row of [...attempts].sort((one, other) => orderOf(one) - orderOf(other))) {
      const key = `${row.deliveryId} ${row.series}`;
      const rows = this.attempts.get(key) ?? new Map<number, AttemptRow>();
      this.attempts.set(key, rows);
      const existing = rows.get(row.number);
      if (existing && (row.outcome !== 'delivered' || existing.outcome === 'delivered')) continue;
      rows.set(row.number, row);
      written.add(row);
    }
    const paused = new Map<AttemptRow, Pause>();
    for (const row of attempts) {
      const webhook = this.webhooks.get(row.webhookId);
      if (!webhook || !row.health) continue;
      const now = this.now();
      if (row.health.unhealthy) webhook.unhealthyAt = now;
      else if (webhook.unhealthyAt !== undefined && webhook.unhealthyAt < now - 30_000)
        webhook.unhealthyAt = undefined;
      webhook.failures = row.health.answered ? 0 : (webhook.failures ?? 0) + Number(row.health.silent);
      const pause = pauseOf(webhook, row.health, now);
      if (pause === null) webhook.pause = undefined;
      else if (pause) {
        webhook.pause = pause;
        webhook.waitsUntil = pause.until + pause.length;
        paused.set(row, pause);
      }
    }
    return attempts.map((row) => {
      const pause = paused.get(row);
      return { isWritten: written.has(row), ...(pause && { pause }) };
    });
  }

  disable(webhookId: string, url: string, reason: string): DisabledWebhook | undefined {
    const webhook = this.webhooks.get(webhookId);
    if (!webhook?.enabled || webhook.url !== url) return undefined;
    Object.assign(webhook, { enabled: false, disabledReason: reason, disabledAt: this.now() });
    return this.findDisabledWebhook(webhookId);
  }

  findSubscribers(accepted: AcceptedEvent): readonly Subscriber[] {
    const { id, organizationId } = accepted.event;
    const webhooks = this.of(organizationId);
    if (webhooks.length > 0 && !this.events.has(id)) this.events.set(id, accepted);
    return webhooks
      .filter(({ enabled }) => enabled)
      .map((webhook) => ({ webhookId: webhook.webhookId, unhealthy: isUnhealthy(webhook) }));
  }

  findStoredEvent({ eventId, webhookId }: Redelivery): StoredEvent | undefined {
    const [event, webhook] = [this.events.get(eventId), this.webhooks.get(webhookId)];
    if (!event || !webhook?.enabled || webhook.organizationId !== event.event.organizationId)
      return undefined;
    const unhealthy = isUnhealthy(webhook);
    return { body: event.event.text, acceptedAt: event.acceptedAt, unhealthy };
  }

  findDisabledWebhook(webhookId: string): DisabledWebhook | undefined {
    const webhook = this.webhooks.get(webhookId);
    if (!webhook || webhook.enabled) return undefined;
    const { organizationId, disabledReason: reason = '', disabledAt = 0 } = webhook;
    return { webhookId, organizationId, reason, disabledAt };
  }
}

const isUnhealthy = ({ unhealthyAt, pause }: SimulatedWebhook) =>
  unhealthyAt !== undefined || pause !== undefined;

/** The pause that follows an attempt: null ends it, undefined leaves it. There is no probe here. */
function pauseOf(
  { pause, failures = 0 }: SimulatedWebhook,
  { answered, isTrial, askedMs }: NonNullable<AttemptRow['health']>,
  now: number,
): Pause | null | undefined {
  if (askedMs > 0) {
    const length = Math.ceil(askedMs / 1_000) * 1_000;
    return { reason: 'retry_after', until: Math.max(now + length, pause?.until ?? 0), length };
  }
  if (answered) return isTrial || pause?.reason === 'no_response' ? null : undefined;
  const close = (length: number): Pause => ({ reason: 'no_response', until: now + length, length });
  if (isTrial) return close(pause?.reason === 'no_response' ? Math.min(2 * pause.length, 900_000) : 30_000);
  return !pause && failures >= 5 ? close(30_000) : undefined;
}

/** Puts a delivered copy first: the first of several in one statement is written. */
const orderOf = ({ outcome }: AttemptRow) => (outcome === 'delivered' ? 0 : 1);
