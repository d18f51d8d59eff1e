import { deliveryId, parseDelivery } from '../../domain/delivery';

const webhookId = 'wh-aaaaa-bbbbb-cccccccccccccc';
const delivery = {
  deliveryId: deliveryId('ev-1', webhookId),
  webhookId,
  eventId: 'ev-1',
  acceptedAt: 1,
  body: '{"data":"\u20ac"}',
};

it('derives a stable delivery id from event and webhook, without a full stop', () => {
  // The first 32 digits of the SHA-256.
  expect(deliveryId('ev-1', 'wh-1')).toBe('msg_f896dd09730c92a64475a56e8556d870');
  expect(deliveryId('ev-1w', 'h-1')).not.toBe(deliveryId('ev-1', 'wh-1'));
});

it.each([
  { webhookId: webhookId.replace('wh', 'or') },
  { eventId: 'ev.1' },
  { deliveryId: 'a\r\nb: c' },
  { notBefore: 8.64e15 + 1 },
  { attempt: 0 },
  { number: 2 ** 31 },
  { series: 'a b' },
  { copy: '' },
  { paused: -1 },
])('refuses %j, and names the field', (change) => {
  const error = `"${Object.keys(change)[0]}" is invalid.`;
  for (const valid of [{}, { paused: 0, series: 'a', number: 1, copy: 'b' }])
    expect(parseDelivery(JSON.stringify({ ...delivery, ...valid }))).toMatchObject({ ok: true });
  expect(parseDelivery(JSON.stringify({ ...delivery, ...change }))).toEqual({ ok: false, error });
});
