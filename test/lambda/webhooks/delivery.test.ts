import { deliveryId, parseDelivery, writeDelivery } from '../../../lambda/webhooks/delivery';

const delivery = {
  deliveryId: deliveryId('ev-1', 'wh-1'),
  webhookId: 'wh-1',
  eventId: 'ev-1',
  acceptedAt: 1,
  body: '{"data":"\u20ac"}',
};

it('names a delivery by its event and webhook, always the same, and without a full stop', () => {
  expect(deliveryId('ev-1', 'wh-1')).toMatch(/^msg_[0-9a-f]{32}$/);
  expect(deliveryId('ev-1', 'wh-1')).toBe(deliveryId('ev-1', 'wh-1'));
  const others = [deliveryId('ev-2', 'wh-1'), deliveryId('ev-1', 'wh-2'), deliveryId('ev-1w', 'h-1')];
  expect(new Set([...others, deliveryId('ev-1', 'wh-1')]).size).toBe(4);
});

it.each([
  {},
  { startedAt: 2 },
  { startedAt: 2, notBefore: 3 },
  { startedAt: 2, notBefore: 3, hasSlot: true },
])('survives the queue with %j', (times) => {
  expect(parseDelivery(writeDelivery({ ...delivery, ...times }))).toEqual({
    ok: true,
    value: { ...delivery, ...times },
  });
});

it.each([
  ['no JSON', 'x'],
  ['null', 'null'],
  ['an event in its place', '{"id":"ev-1","data":1}'],
  ['an empty webhook id', JSON.stringify({ ...delivery, webhookId: '' })],
  ['a delivery id that is no header', JSON.stringify({ ...delivery, deliveryId: 'a\r\nb: c' })],
  ['a time that is text', JSON.stringify({ ...delivery, acceptedAt: '1' })],
  ['a slot that is text', JSON.stringify({ ...delivery, hasSlot: 'true' })],
  ['a body that is not text', JSON.stringify({ ...delivery, body: {} })],
])('refuses %s', (_name, text) => {
  expect(parseDelivery(text).ok).toBe(false);
});
