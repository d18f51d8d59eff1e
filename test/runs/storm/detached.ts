import { deliveryId, writeDelivery } from '../../../domain/delivery';
import { createQueue } from '../../../lambda/webhooks/queue';
import { addOrganization } from '../../support/webhooks';
import { drain } from '../world/queues';
import { eventText } from '../world/wallet-event';
import { type Phase, type PhaseOptions, type StormSubscription, subscribe, tellOfMessages } from './phase';
import type { StormSettings } from './settings';
import type { World } from './world';

const day = 24 * 3_600_000;

/**
 * Puts a day's deliveries on the queue, attaches the origin, which was not until then, and waits until the queue is empty.
 */
export async function runDetached(
  world: World,
  { receivers, waiting, patience }: StormSettings,
  progress: PhaseOptions['progress'],
): Promise<Phase> {
  const organizationId = await addOrganization(world.owner);
  const subscriptions = await subscribe(world, {
    organizationId,
    kinds: receivers,
    isThere: (kind) => kind === 'healthy' || kind === 'failing',
  });
  const events = Array.from({ length: waiting }, (_, index) => ({
    id: `${organizationId.slice(3, 14)}-${index}`,
    kind: receiverOf(index, subscriptions).eventKind,
  }));

  const acceptedAt = Date.now() - day;
  const queue = createQueue({ sqs: () => world.sqs, url: world.deliveries.queue.url });
  const sent = await queue.send(
    events.map((event, index) => {
      const { webhookId } = receiverOf(index, subscriptions);
      const at = acceptedAt + (index * day) / waiting;
      const body = eventText({ ...event, organizationId, date: new Date(at).toISOString() });
      const ids = { webhookId, eventId: event.id, deliveryId: deliveryId(event.id, webhookId) };
      return { group: webhookId, body: writeDelivery({ ...ids, acceptedAt: Math.round(at), body }) };
    }),
  );
  if (!sent.ok) throw new Error(sent.error.reason);

  await world.deliver.warmUp();
  const began = Date.now();
  const stopTelling = tellOfMessages(world, 'detached', progress);
  try {
    world.deliver.attach();
    const left = await drain(world.sqs, [world.deliveries.queue.url], patience);
    const duration = Date.now() - began;
    const lost = world.deliver.lost.messages;
    return { name: 'detached', subscriptions, events, rate: (waiting * 1_000) / day, left, lost, duration };
  } finally {
    stopTelling();
  }
}

/** Six of ten wait for the first receiver, which is healthy, three for the second, which fails, one for the others. */
function receiverOf(
  index: number,
  [healthy, failing, ...others]: readonly StormSubscription[],
): StormSubscription {
  const place = index % 10;
  const other = others[Math.floor(index / 10) % others.length];
  return (place < 6 ? healthy : place < 9 ? failing : other) as StormSubscription;
}
