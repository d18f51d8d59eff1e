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
  expect(deliveryId('ev-1', 'wh-1')).toMatch(/^msg_[0-9a-f]{32}$/);
  expect(deliveryId('ev-1', 'wh-1')).toBe(deliveryId('ev-1', 'wh-1'));
  const others = [deliveryId('ev-2', 'wh-1'), deliveryId('ev-1', 'wh-2'), deliveryId('ev-1w', 'h-1')];
  expect(new Set([...others, deliveryId('ev-1', 'wh-1')]).size).toBe(4);
});

it.each([{}, { attempt: 1, notBefore: 8.64e15 }])('survives the queue with %j', (times) => {
  expect(parseDelivery(writeDelivery({ ...delivery, ...times }))).toEqual({
    ok: true,
    value: { ...delivery, ...times },
  });
});

it.each<[name: string, change: Record<string, unknown>, reason: string]>([
  ['an empty webhook id', { webhookId: '' }, '"webhookId" must be an id such as wh-'],
  ['the id of something else', { webhookId: webhookId.replace('wh', 'or') }, '"webhookId" must be'],
  ['an id that PostgreSQL refuses', { webhookId: `${webhookId}\0` }, '"webhookId" must be'],
  ['an event id with a full stop', { eventId: 'ev.1' }, '"eventId" must be an event\'s id.'],
  ['a delivery id that is no header', { deliveryId: 'a\r\nb: c' }, '"deliveryId" must be "msg_"'],
  ['a delivery id with more after it', { deliveryId: `${delivery.deliveryId}0` }, '"deliveryId" must be'],
  ['a delivery id with more before it', { deliveryId: `0${delivery.deliveryId}` }, '"deliveryId" must be'],
  ['an empty body', { body: '' }, '"body" must be text.'],
  ['a time that is text', { acceptedAt: '1' }, '"acceptedAt" must be a time in milliseconds since 1970.'],
  ['a time beyond the calendar', { notBefore: 8.64e15 + 1 }, '"notBefore" must be a time in milliseconds'],
  ['an attempt before the first', { attempt: 0 }, '"attempt" must be the number of an attempt, or absent.'],
  ['a body that is not text', { body: {} }, '"body" must be text.'],
])('refuses %s, and names the field', (_name, change, reason) => {
  const refused = parseDelivery(JSON.stringify({ ...delivery, ...change }));
  expect(refused).toEqual({ ok: false, error: expect.stringContaining(reason) });
});

it.each(['x', 'null', '[]', '{"id":"ev-1","data":1}'])('refuses %s', (text) => {
  expect(parseDelivery(text)).toMatchObject({ ok: false, error: expect.stringMatching(/./) });
});
