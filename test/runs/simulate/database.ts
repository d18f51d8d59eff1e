import type { Disabling, Redelivery } from '../../../domain/event';
import type { AttemptRow, Known, Webhooks } from '../../../lambda/deliver-webhook/deliver-webhook';
import type { AcceptedEvent, StoredEvent, Subscriber } from '../../../lambda/fan-out-event/fan-out-event';

export interface SimulatedWebhook {
  readonly webhookId: string;
  readonly organizationId: string;
  readonly url: string;
  enabled: boolean;
  disabledReason?: string;
  disabledAt?: number;
  unhealthyAt?: number | undefined;
}

/** What PostgreSQL does for the two functions: the cases of test/contract hold it to that. */
export class SimulatedDatabase {
  readonly webhooks = new Map<string, SimulatedWebhook>();
  private readonly byOrganization = new Map<string, SimulatedWebhook[]>();
  readonly events = new Map<string, AcceptedEvent>();
  /** By series, then by number. */
  readonly attempts = new Map<string, Map<number, AttemptRow>>();

  constructor(private readonly now: () => number) {}

  of(organizationId: string): readonly SimulatedWebhook[] {
    return this.byOrganization.get(organizationId) ?? [];
  }

  addWebhook(webhook: SimulatedWebhook): void {
    this.webhooks.set(webhook.webhookId, webhook);
    this.byOrganization.set(webhook.organizationId, [...this.of(webhook.organizationId), webhook]);
  }

  find({ webhookId, deliveryId, series = '' }: Parameters<Webhooks['find']>[0]): Known {
    const webhook = this.webhooks.get(webhookId);
    const rows = [...(this.attempts.get(`${deliveryId} ${series}`)?.values() ?? [])];
    const latest = rows.reduce<AttemptRow | undefined>(
      (highest, row) => (highest && highest.number > row.number ? highest : row),
      undefined,
    );
    const last = rows.find(({ outcome }) => outcome !== 'failed') ?? latest;
    return {
      ...(webhook && { webhook: this.stored(webhook) }),
      ...(last && {
        last: {
          number: last.number,
          ...(last.copy !== undefined && { copy: last.copy }),
          ...(last.successor && { successor: last.successor }),
        },
      }),
    };
  }

  private stored({ webhookId, url, enabled, unhealthyAt }: SimulatedWebhook) {
    const disabling = this.findDisabling(webhookId);
    const unhealthy = unhealthyAt !== undefined;
    return { url, enabled, unhealthy, secretVersion: 1, ...(disabling && { disabling }) };
  }

  /** @returns for each whether it was written */
  record(attempts: readonly AttemptRow[]): readonly boolean[] {
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
    for (const { webhookId, outcome, durationMs } of attempts) {
      const webhook = this.webhooks.get(webhookId);
      if (!webhook) continue;
      if (outcome !== 'delivered' || durationMs > 2_000) webhook.unhealthyAt = this.now();
      else if (webhook.unhealthyAt !== undefined && webhook.unhealthyAt < this.now() - 30_000)
        webhook.unhealthyAt = undefined;
    }
    return attempts.map((row) => written.has(row));
  }

  disable(webhookId: string, url: string, reason: string): Disabling | undefined {
    const webhook = this.webhooks.get(webhookId);
    if (!webhook?.enabled || webhook.url !== url) return undefined;
    Object.assign(webhook, { enabled: false, disabledReason: reason, disabledAt: this.now() });
    return this.findDisabling(webhookId);
  }

  enable(webhookId: string): void {
    const webhook = this.webhooks.get(webhookId);
    if (webhook) Object.assign(webhook, { enabled: true, disabledReason: undefined, disabledAt: undefined });
  }

  findSubscribers(accepted: AcceptedEvent): readonly Subscriber[] {
    const { id, organizationId } = accepted.event;
    const webhooks = this.of(organizationId);
    if (webhooks.length > 0 && !this.events.has(id)) this.events.set(id, accepted);
    return webhooks
      .filter(({ enabled }) => enabled)
      .map(({ webhookId, unhealthyAt }) => ({ webhookId, unhealthy: unhealthyAt !== undefined }));
  }

  findStoredEvent({ eventId, webhookId }: Redelivery): StoredEvent | undefined {
    const [event, webhook] = [this.events.get(eventId), this.webhooks.get(webhookId)];
    if (!event || !webhook?.enabled || webhook.organizationId !== event.event.organizationId)
      return undefined;
    const unhealthy = webhook.unhealthyAt !== undefined;
    return { body: event.event.text, acceptedAt: event.acceptedAt, unhealthy };
  }

  findDisabling(webhookId: string): Disabling | undefined {
    const webhook = this.webhooks.get(webhookId);
    if (!webhook || webhook.enabled) return undefined;
    const { organizationId, disabledReason: reason = '', disabledAt = 0 } = webhook;
    return { webhookId, organizationId, reason, disabledAt };
  }
}

/** Of several copies in one statement, one that was delivered is written. */
const orderOf = ({ outcome }: AttemptRow) => (outcome === 'delivered' ? 0 : 1);
