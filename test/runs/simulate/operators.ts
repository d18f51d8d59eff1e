import { deliveryId, writeDelivery } from '../../../domain/delivery';
import { disabledEvent, writeEvent, writeRedelivery } from '../../../domain/event';
import type { World } from './functions';

/**
 * What the commands do to the database and the queues for a webhook: lambda/run-operation, cli/webhooks.
 *
 * @param object the new URL of `move`, the event of `test` and `redeliver`
 */
export function operate(
  { clock, database, invariants, queues }: World,
  command: 'disable' | 'enable' | 'move' | 'rotate' | 'test' | 'redeliver' | 'remove organization',
  webhookId: string,
  object = '',
): void {
  invariants.tell(webhookId, `OPERATOR ${command}`);
  const [webhook, book] = [database.webhooks.get(webhookId), invariants.webhooks.get(webhookId)];
  if (!webhook || !book) return;
  const { organizationId, secretVersion } = webhook;
  const now = database.now();
  const ids = { deliveryId: deliveryId(object, webhookId), eventId: object, webhookId };
  const stored = database.events.get(object);
  if (command === 'disable') {
    database.disable(webhookId, webhook.url, 'operator');
    if (!webhook.disabling) return;
    invariants.disabled(webhook.disabling);
    queues.events.add(disabledEvent(webhook.disabling).text);
  } else if (command === 'enable') {
    delete webhook.disabling;
    webhook.health = { failures: 0, unhealthyAt: now };
    book.enable(clock.now);
  } else if (command === 'move') {
    const { pause: _, ...health } = webhook.health;
    Object.assign(webhook, { url: object, health: { ...health, failures: 0 } });
    book.move(object, clock.now);
  } else if (command === 'rotate') {
    Object.assign(webhook, { secretVersion: secretVersion + 1, rotatedAt: now });
    book.rotations.push(clock.now);
  } else if (command === 'test' && !webhook.disabling) {
    const body = writeEvent({ id: object, organizationId, kind: 'webhook.test', data: '{}' }, new Date(now));
    invariants.caused(ids, body, '');
    queues.deliveries.add(writeDelivery({ ...ids, acceptedAt: Math.round(now), body }));
  } else if (command === 'redeliver' && !webhook.disabling && stored) {
    const series = `again-${object}`;
    invariants.caused(ids, stored.event.text, series);
    queues.events.add(writeRedelivery({ eventId: object, webhookId, series }));
  } else if (command === 'remove organization')
    for (const each of database.of(organizationId)) {
      database.webhooks.delete(each.webhookId);
      invariants.webhooks.get(each.webhookId)?.disable(clock.now);
    }
}
