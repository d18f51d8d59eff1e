import { deliveryId, writeDelivery } from '../../../domain/delivery';
import { disabledEvent, writeEvent, writeRedelivery } from '../../../domain/event';
import type { Surroundings } from './functions';

/** What the commands do to the database and the queues: lambda/run-operation, cli/webhooks. */
export function createOperators({ clock, database, invariants, queues, tell }: Surroundings) {
  const of = (webhookId: string) => {
    tell(webhookId, 'OPERATOR');
    return database.webhooks.get(webhookId);
  };
  const bookOf = (webhookId: string) => invariants.webhooks.get(webhookId);
  return {
    disable(webhookId: string): void {
      const webhook = of(webhookId);
      if (!webhook) return;
      database.disable(webhookId, webhook.url, 'operator');
      invariants.disabled(webhookId, 'operator');
      if (webhook.disabling) queues.events.add(disabledEvent(webhook.disabling).text);
    },

    enable(webhookId: string): void {
      const webhook = of(webhookId);
      if (!webhook) return;
      delete webhook.disabling;
      webhook.health = { failures: 0, unhealthyAt: database.now() };
      bookOf(webhookId)?.enable(clock.now);
    },

    move(webhookId: string, url: string): void {
      const webhook = of(webhookId);
      if (!webhook) return;
      const { pause: _, ...health } = webhook.health;
      Object.assign(webhook, { url, health: { ...health, failures: 0 } });
      bookOf(webhookId)?.move(url, clock.now);
    },

    rotate(webhookId: string): void {
      const webhook = of(webhookId);
      if (!webhook) return;
      Object.assign(webhook, { secretVersion: webhook.secretVersion + 1, rotatedAt: database.now() });
      bookOf(webhookId)?.rotations.push(clock.now);
    },

    test(webhookId: string, eventId: string): void {
      const webhook = of(webhookId);
      if (!webhook || webhook.disabling) return;
      const ids = { deliveryId: deliveryId(eventId, webhookId), eventId, webhookId };
      const event = { id: eventId, organizationId: webhook.organizationId, kind: 'webhook.test', data: '{}' };
      const body = writeEvent(event, new Date(database.now()));
      invariants.caused(ids, body, '');
      queues.deliveries.add(writeDelivery({ ...ids, acceptedAt: Math.round(database.now()), body }));
    },

    redeliver(webhookId: string, eventId: string, series: string): void {
      const [webhook, stored] = [of(webhookId), database.events.get(eventId)];
      if (!webhook || webhook.disabling || !stored) return;
      const ids = { deliveryId: deliveryId(eventId, webhookId), eventId, webhookId };
      invariants.caused(ids, stored.event.text, series);
      queues.events.add(writeRedelivery({ eventId, webhookId, series }));
    },

    removeOrganization(organizationId: string): void {
      for (const { webhookId } of database.of(organizationId)) {
        database.webhooks.delete(webhookId);
        bookOf(webhookId)?.disable('removed', clock.now);
      }
    },
  };
}
