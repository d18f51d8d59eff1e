import { deliveryId as idOf, writeDelivery } from '../../../domain/delivery';
import { disabledEvent, writeEvent, writeRedelivery } from '../../../domain/event';
import type { SimulatedDatabase } from './database';
import type { Invariants } from './invariants';
import type { SimulatedQueue } from './sqs';

interface World {
  readonly database: SimulatedDatabase;
  readonly invariants: Invariants;
  readonly queues: Readonly<Record<'events' | 'deliveries' | 'retries', SimulatedQueue>>;
  tell(subject: string, line: string): void;
}

/** What the commands do to the database and the queues: lambda/run-operation, cli/webhooks. */
export function createOperators({ database, invariants, queues, tell }: World) {
  const of = (webhookId: string) => {
    tell(webhookId, 'OPERATOR');
    return database.webhooks.get(webhookId);
  };
  return {
    disable(webhookId: string): void {
      const webhook = of(webhookId);
      if (!webhook) return;
      database.disable(webhookId, webhook.url, 'operator');
      invariants.disabled(webhookId, 'operator');
      const disabling = database.findDisabledWebhook(webhookId);
      if (disabling) queues.events.add(disabledEvent(disabling).text);
    },

    enable(webhookId: string): void {
      const webhook = of(webhookId);
      if (!webhook) return;
      Object.assign(webhook, { enabled: true, health: { failures: 0, unhealthyAt: database.now() } });
      invariants.enabled(webhookId);
    },

    move(webhookId: string, url: string): void {
      const webhook = of(webhookId);
      if (!webhook) return;
      const { pause: _, ...health } = webhook.health;
      Object.assign(webhook, { url, health: { ...health, failures: 0 } });
      invariants.moved(webhookId, url);
    },

    rotate(webhookId: string): void {
      const webhook = of(webhookId);
      if (!webhook) return;
      Object.assign(webhook, { secretVersion: (webhook.secretVersion ?? 1) + 1, rotatedAt: database.now() });
      invariants.rotated(webhookId);
    },

    test(webhookId: string, eventId: string): void {
      const webhook = of(webhookId);
      if (!webhook?.enabled) return;
      const ids = { deliveryId: idOf(eventId, webhookId), eventId, webhookId };
      const event = { id: eventId, organizationId: webhook.organizationId, kind: 'webhook.test', data: '{}' };
      const body = writeEvent(event, new Date(database.now()));
      invariants.caused(ids, webhookId, body);
      queues.deliveries.add(writeDelivery({ ...ids, acceptedAt: Math.round(database.now()), body }));
    },

    redeliver(webhookId: string, eventId: string, series: string): void {
      const [webhook, stored] = [of(webhookId), database.events.get(eventId)];
      if (!webhook?.enabled || !stored) return;
      invariants.caused(
        { deliveryId: idOf(eventId, webhookId), eventId },
        webhookId,
        stored.event.text,
        series,
      );
      queues.events.add(writeRedelivery({ eventId, webhookId, series }));
    },

    removeOrganization(organizationId: string): void {
      for (const { webhookId } of database.remove(organizationId)) invariants.removed(webhookId);
    },
  };
}
