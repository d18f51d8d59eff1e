import { deliveryId, parseDelivery, writeDelivery } from '../../domain/delivery';

const webhookId = 'wh-aaaaa-bbbbb-cccccccccccccc';
const delivery = {
  deliveryId: deliveryId('ev-1', webhookId),
  webhookId,
  eventId: 'ev-1',
  acceptedAt: 1,
  body: '{"data":"\u20ac"}',
};

it('derives a stable delivery id from event and webhook, without a full stop', () => {
  expect(delivery.deliveryId).toMatch(/^msg_[0-9a-f]{32}$/);
  expect(deliveryId('ev-1', webhookId)).toBe(delivery.deliveryId);
  const others = [deliveryId('ev-2', 'wh-1'), deliveryId('ev-1', 'wh-1'), deliveryId('ev-1w', 'h-1')];
  expect(new Set([...others, delivery.deliveryId]).size).toBe(4);
});

it.each([{}, { attempt: 1, notBefore: 8.64e15 }])('survives the queue with %j', (times) => {
  const value = { ...delivery, ...times };
  expect(parseDelivery(writeDelivery(value))).toEqual({ ok: true, value });
});

it.each<[name: string, change: Record<string, unknown>]>([
  ['an empty webhook id', { webhookId: '' }],
  ['the id of something else', { webhookId: webhookId.replace('wh', 'or') }],
  ['an id that PostgreSQL refuses', { webhookId: `${webhookId}\0` }],
  ['an event id with a full stop', { eventId: 'ev.1' }],
  ['a delivery id that is no header', { deliveryId: 'a\r\nb: c' }],
  ['a delivery id with more after it', { deliveryId: `${delivery.deliveryId}0` }],
  ['a delivery id with more before it', { deliveryId: `0${delivery.deliveryId}` }],
  ['an event id that is a number', { eventId: 1 }],
  ['a delivery id in an array', { deliveryId: [delivery.deliveryId] }],
  ['an empty body', { body: '' }],
  ['a body that is not text', { body: {} }],
  ['a time that is text', { acceptedAt: '1' }],
  ['an out-of-range time', { notBefore: 8.64e15 + 1 }],
  ['an attempt before the first', { attempt: 0 }],
])('refuses %s, and names the field', (_name, change) => {
  const error = `"${Object.keys(change)[0]}" is invalid.`;
  expect(parseDelivery(JSON.stringify({ ...delivery, ...change }))).toEqual({ ok: false, error });
});

it.each(['x', 'null', '[]'])('refuses %s', (text) => {
  expect(parseDelivery(text)).toEqual({ ok: false, error: 'The message is not a JSON object.' });
});
