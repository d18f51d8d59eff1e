import { decideOnDelivery } from '../../../cli/redeliver/decision';
import { type Delivery, parseDelivery, writeDelivery } from '../../../domain/delivery';

const delivery: Delivery = {
  deliveryId: 'msg_0123456789abcdef0123456789abcdef',
  webhookId: 'wh-aaaaa-bbbbb-cccccccccccccc',
  eventId: 'evt_1',
  acceptedAt: 1_700_000_000_000,
  body: '{}',
};
const texts = [
  '',
  'a.b',
  '-',
  'a'.repeat(64),
  'a'.repeat(65),
  'wh-aaaaa-bbbbb-cccccccccccccc',
  'msg_eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee',
  '\n',
];
const values = [undefined, null, ...texts, 1, 1.5, 8.64e15 + 1, 2 ** 53, {}, []];
const fields = Object.keys(delivery) as (keyof Delivery)[];
const changed = fields.flatMap((field) =>
  values.map((value) => ({ ...delivery, [field]: value }) as Delivery),
);
const messages = ['{', 'null', '[]', '1', ...changed.map(writeDelivery), writeDelivery(delivery)];

it('a dead letter goes back when, and only when, the delivery function can read it', async () => {
  const decide = decideOnDelivery(async () => 'enabled', undefined);
  const goesBack = await Promise.all(
    messages.map(async (body) => {
      const { kind } = await decide({ messageId: '1', receiptHandle: '1', sentAt: 0, body });
      return kind === 'redeliver';
    }),
  );
  const isRead = messages.map((text) => parseDelivery(text).ok);
  expect(new Set(isRead)).toEqual(new Set([true, false]));
  expect(goesBack).toEqual(isRead);
});
