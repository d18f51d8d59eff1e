import { deliveryId } from '../../../domain/delivery';
import { disabledEvent, writeRedelivery } from '../../../domain/event';
import type { Surroundings } from './functions';

/** What the commands do to the database and the queues: lambda/run-operation, cli/webhooks. */
export function createOperators({ clock, database, invariants, queues, tell }: Surroundings) {
  const of = (webhookId: string) => {
    tell(webhookId, 'OPERATOR');
    const [webhook, book] = [database.webhooks.get(webhookId), invariants.webhooks.get(webhookId)];
    if (!webhook || !book) throw new Error(`There is no ${webhookId}.`);
    return { webhook, book };
  };
  return {
    disable(webhookId: string): void {
      const disabled = database.disable(webhookId, of(webhookId).webhook.url, 'operator');
      if (!disabled) return;
      invariants.disabled(disabled);
      queues.events.add(disabledEvent(disabled).text);
    },

    enable(webhookId: string): void {
      const { webhook, book } = of(webhookId);
      delete webhook.disabling;
      webhook.health = { failures: 0, unhealthyAt: database.now() };
      book.enable(clock.now);
    },

    move(webhookId: string, url: string): void {
      const { webhook, book } = of(webhookId);
      const { pause: _, ...health } = webhook.health;
      Object.assign(webhook, { url, health: { ...health, failures: 0 } });
      book.move(url, clock.now);
    },

    redeliver(webhookId: string, eventId: string, series: string): void {
      const stored = database.events.get(eventId);
      if (of(webhookId).webhook.disabling || !stored) return;
      const ids = { deliveryId: deliveryId(eventId, webhookId), eventId, webhookId };
      invariants.redelivered(ids, stored.event.text, series);
      queues.events.add(writeRedelivery({ eventId, webhookId, series }));
    },
  };
}
