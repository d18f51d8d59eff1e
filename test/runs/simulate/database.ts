import type { DisabledWebhook, Redelivery } from '../../../domain/event';
import { type Health, type Trial, trialTime } from '../../../lambda/deliver-webhook/health';
import type {
  AttemptRow,
  DeliveryState,
  HealthChange,
  LookedAt,
} from '../../../lambda/deliver-webhook/ports';
import type { handOut } from '../../../lambda/deliver-webhook/series';
import type { AcceptedEvent } from '../../../lambda/fan-out-event/fan-out-event';

interface SimulatedWebhook {
  readonly webhookId: string;
  readonly organizationId: string;
  url: string;
  disabling?: DisabledWebhook;
  health: Health;
  secretVersion: number;
  rotatedAt?: number;
}

/** What PostgreSQL does for the two functions: the cases of test/contract hold it to that. */
export class SimulatedDatabase {
  readonly webhooks = new Map<string, SimulatedWebhook>();
  readonly events = new Map<string, AcceptedEvent>();
  readonly attempts = new Map<string, readonly AttemptRow[]>();

  /** Webhooks' rows that a statement has locked, with the statements that wait for them. */
  private readonly locks = new Map<string, (() => void)[]>();

  constructor(readonly now: () => number) {}

  of(organizationId: string): readonly SimulatedWebhook[] {
    return [...this.webhooks.values()].filter((webhook) => webhook.organizationId === organizationId);
  }

  /** Events are stored for 14 days, attempts for 31. */
  purge(): void {
    const day = 86_400_000;
    for (const [id, { acceptedAt }] of this.events)
      if (acceptedAt < this.now() - 14 * day) this.events.delete(id);
    const isKept = ({ attemptedAt }: AttemptRow) => attemptedAt >= this.now() - 31 * day;
    for (const [id, rows] of this.attempts) this.attempts.set(id, rows.filter(isKept));
  }

  /** Of a webhook whose pause is over, each that may be the trial is told that its claim is set. */
  find(deliveries: readonly LookedAt[]): Parameters<typeof handOut>[0] {
    const until = this.now() + trialTime;
    const claimed = new Set<string>();
    for (const { webhookId, mayTry } of deliveries) {
      const webhook = this.webhooks.get(webhookId);
      const { pause } = webhook?.health ?? {};
      if (!mayTry || !webhook || !pause || pause.until > this.now() || this.locks.has(webhookId)) continue;
      webhook.health = { ...webhook.health, pause: { ...pause, until } };
      claimed.add(webhookId);
    }
    // There is no probe here.
    const trial = { trial: { until, probeAnswers: true } };
    return deliveries.map((delivery) => {
      const mayTry = delivery.mayTry && claimed.has(delivery.webhookId);
      return { delivery, state: { ...this.stateOf(delivery), ...(mayTry && trial) } };
    });
  }

  release = (webhookId: string, { until }: Trial): void => {
    const webhook = this.webhooks.get(webhookId);
    const { pause } = webhook?.health ?? {};
    if (webhook && pause?.until === until)
      webhook.health = { ...webhook.health, pause: { ...pause, until: this.now() } };
  };

  private stateOf({ webhookId, deliveryId, series = '' }: LookedAt): DeliveryState {
    const webhook = this.webhooks.get(webhookId);
    const all = this.attempts.get(deliveryId) ?? [];
    const rows = all.filter((row) => row.series === series);
    const others = all.filter((row) => row.series !== series);
    const latest = [...rows].sort((one, other) => other.number - one.number);
    const { number, copy, successor } = latest.find(({ outcome }) => outcome !== 'failed') ?? latest[0] ?? {};
    const last = number && { number, ...(copy !== undefined && { copy }), ...(successor && { successor }) };
    return {
      ...(webhook && { webhook: stored(webhook) }),
      ...(rows.length > 0 && { begunAt: begunAt(rows) }),
      ...(others.length > 0 && { other: lastOf(others) }),
      ...(last && { last }),
    };
  }

  /** `AttemptStore.write`. @param hold what it takes, with its locks */
  write(attempts: readonly AttemptRow[], hold?: () => Promise<unknown>) {
    const rows = attempts.flatMap(({ webhookId, health }) =>
      health ? [{ webhookId, waits: health.answered || !health.silent }] : [],
    );
    return this.locking(rows, hold, (isLocked) => this.writeNow(attempts, isLocked));
  }

  private writeNow(attempts: readonly AttemptRow[], isLocked: (webhookId: string) => boolean) {
    const written = new Set<AttemptRow>();
    for (const row of [...attempts].sort((one, other) => orderOf(one) - orderOf(other))) {
      const rows = this.attempts.get(row.deliveryId) ?? [];
      const isSame = ({ series, number }: AttemptRow) => series === row.series && number === row.number;
      const existing = rows.find(isSame);
      if (existing && (row.outcome !== 'delivered' || existing.outcome === 'delivered')) continue;
      this.attempts.set(row.deliveryId, [...rows.filter((other) => other !== existing), row]);
      written.add(row);
    }
    const known = new Map<string, Health>();
    for (const [webhookId, webhook] of this.webhooks) {
      const counted = attempts.flatMap(({ webhookId: id, health }) =>
        id === webhookId && health?.url === webhook.url ? [health] : [],
      );
      if (counted.length === 0) continue;
      const answered = counted.some((health) => health.answered);
      const silences = counted.filter((health) => health.silent).length;
      if (!answered && silences > 0 && isLocked(webhookId)) continue;
      const failures = answered ? 0 : webhook.health.failures + silences;
      webhook.health = { ...webhook.health, failures };
      known.set(`${webhookId} ${webhook.url}`, webhook.health);
    }
    return attempts.map((row) => {
      const health = known.get(`${row.webhookId} ${row.health?.url}`);
      return { isWritten: written.has(row), now: this.now(), ...(health && { health }) };
    });
  }

  /** Locks rows as the statements do: those of answers one after another, then the others unless one is locked. */
  private async locking<Value>(
    rows: readonly { readonly webhookId: string; readonly waits: boolean }[],
    hold: () => Promise<unknown> = async () => undefined,
    run: (isSkipped: (webhookId: string) => boolean) => Value,
  ): Promise<Value> {
    const locked = new Set(rows.filter(({ waits }) => waits).map(({ webhookId }) => webhookId));
    for (const id of [...locked].sort()) {
      const others = this.locks.get(id);
      if (others) await new Promise<void>((resolve) => others.push(resolve));
      else this.locks.set(id, []);
    }
    for (const { webhookId } of rows) {
      if (this.locks.has(webhookId)) continue;
      this.locks.set(webhookId, []);
      locked.add(webhookId);
    }
    await hold();
    const value = run((id) => !locked.has(id));
    for (const id of locked) {
      const next = this.locks.get(id)?.shift();
      if (next) next();
      else this.locks.delete(id);
    }
    return value;
  }

  set(changes: readonly HealthChange[], hold?: () => Promise<unknown>): Promise<readonly string[]> {
    const rows = changes.map(({ webhookId }) => ({ webhookId, waits: true }));
    return this.locking(rows, hold, () => changes.flatMap((change) => this.setNow(change)));
  }

  private setNow({ webhookId, url, from, to }: HealthChange): readonly string[] {
    const webhook = this.webhooks.get(webhookId);
    if (!webhook || webhook.url !== url) return [];
    const { failures, pause, unhealthyAt: marked } = webhook.health;
    if (failures < to.failures || pause?.until !== from.pause?.until) return [];
    const isNewer = marked !== undefined && marked > (from.unhealthyAt ?? -1);
    const unhealthyAt = isNewer ? marked : to.unhealthyAt;
    webhook.health = {
      failures,
      ...(to.pause && { pause: to.pause }),
      ...(unhealthyAt !== undefined && { unhealthyAt }),
    };
    return [webhookId];
  }

  disable(webhookId: string, url: string, reason: string) {
    const webhook = this.webhooks.get(webhookId);
    if (webhook?.url !== url) return undefined;
    const isNew = webhook.disabling === undefined;
    const { organizationId } = webhook;
    webhook.disabling ??= { webhookId, organizationId, reason, disabledAt: this.now() };
    return { ...webhook.disabling, isNew };
  }

  findSubscribers(accepted: AcceptedEvent) {
    const { id, organizationId } = accepted.event;
    const webhooks = this.of(organizationId);
    if (webhooks.length > 0 && !this.events.has(id)) this.events.set(id, accepted);
    const { messageId } = this.events.get(id) ?? accepted;
    const subscribers = webhooks
      .filter(({ disabling }) => !disabling)
      .map((webhook) => ({ webhookId: webhook.webhookId, unhealthy: isUnhealthy(webhook) }));
    return { subscribers, isRepeat: messageId !== accepted.messageId };
  }

  findStoredEvent = ({ eventId, webhookId }: Redelivery) => {
    const [event, webhook] = [this.events.get(eventId), this.webhooks.get(webhookId)];
    if (!event || !webhook || webhook.disabling || webhook.organizationId !== event.event.organizationId)
      return undefined;
    const unhealthy = isUnhealthy(webhook);
    return { body: event.event.text, acceptedAt: event.acceptedAt, unhealthy };
  };

  findDisabledWebhook = (webhookId: string) => this.webhooks.get(webhookId)?.disabling;
}

const stored = ({ health: { unhealthyAt, pause }, ...webhook }: SimulatedWebhook) => ({
  ...webhook,
  enabled: !webhook.disabling,
  unhealthy: unhealthyAt !== undefined,
  ...(pause && { pause }),
});

const isUnhealthy = ({ health: { unhealthyAt, pause } }: SimulatedWebhook) =>
  unhealthyAt !== undefined || pause !== undefined;

/** Puts a delivered copy first: the first of several in one statement is written. */
const orderOf = ({ outcome }: AttemptRow) => (outcome === 'delivered' ? 0 : 1);

const begunAt = (rows: readonly AttemptRow[]) => Math.min(...rows.map(({ attemptedAt }) => attemptedAt));

/** Which series began last, and when one was last delivered. */
function lastOf(rows: readonly AttemptRow[]) {
  const [last] = [...new Set(rows.map(({ series }) => series))]
    .map((series) => ({ series, begunAt: begunAt(rows.filter((row) => row.series === series)) }))
    .sort((one, other) => other.begunAt - one.begunAt || (one.series < other.series ? 1 : -1));
  const delivered = rows.filter(({ outcome }) => outcome === 'delivered');
  const deliveredAt = Math.max(...delivered.map(({ attemptedAt, durationMs }) => attemptedAt + durationMs));
  return { series: '', begunAt: 0, ...last, ...(delivered.length > 0 && { deliveredAt }) };
}
