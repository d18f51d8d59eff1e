import { type Delivery, parseDelivery, writeDelivery } from '../../../lambda/webhooks/delivery';
import { decideOnDelivery } from '../../../lib/operations/redeliver/decision';

const delivery: Delivery = {
  deliveryId: 'msg_1',
  webhookId: 'wh-1',
  eventId: 'evt_1',
  acceptedAt: 1_700_000_000_000,
  body: '{}',
};
const values = [undefined, null, '', 'a.b', '-', 'a'.repeat(128), 'a'.repeat(129), 1, 1.5, 2 ** 53, {}, []];
const fields = Object.keys(delivery) as (keyof Delivery)[];
const changed = fields.flatMap((field) =>
  values.map((value) => ({ ...delivery, [field]: value }) as Delivery),
);
const texts = ['{', 'null', '[]', '1', ...changed.map(writeDelivery), writeDelivery(delivery)];

it('a dead letter goes back when, and only when, the delivery function can read it', async () => {
  const decide = decideOnDelivery(async () => 'enabled', undefined);
  const goesBack = await Promise.all(
    texts.map(async (body) => {
      const { kind } = await decide({ messageId: '1', receiptHandle: '1', sentAt: 0, body });
      return kind === 'redeliver';
    }),
  );
  const isRead = texts.map((text) => parseDelivery(text).ok);
  expect(new Set(isRead)).toEqual(new Set([true, false]));
  expect(goesBack).toEqual(isRead);
});
