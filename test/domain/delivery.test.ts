import { deliveryId, parseDelivery } from '../../domain/delivery';
import { parseRedelivery } from '../../domain/event';

const webhookId = 'wh-aaaaa-bbbbb-cccccccccccccc';
const own = { deliveryId: deliveryId('ev-1', webhookId), webhookId, eventId: 'ev-1' };
const delivery = { ...own, acceptedAt: 1, body: '{"data":"\u20ac"}' };

it('derives a stable delivery id from event and webhook, without a full stop', () => {
  // The first 32 digits of the SHA-256.
  expect(deliveryId('ev-1', 'wh-1')).toBe('msg_f896dd09730c92a64475a56e8556d870');
});

const whole = { ...delivery, series: 'a', number: 1, copy: 'b', attempt: 1, paused: 0, notBefore: 1 };
const organizationId = webhookId.replace('wh', 'or');
const ids = ['a', webhookId, organizationId, delivery.deliveryId, `x${webhookId}`, `${delivery.deliveryId}0`];
const tokens = [...ids, '-'];
const texts = [...tokens, 'a b', 'a.b', '\u20ac', 'a'.repeat(65)];
const counts = [1, 2 ** 31 - 1];
const lengths = [0, ...counts, 2 ** 31, 8.64e15];
const times = [-1, ...lengths];
const values = [null, true, [], {}, '', ...texts, -8.64e15 - 1, 0.5, ...times, 8.64e15 + 1, 1e300];
const forms: Readonly<Record<string, readonly unknown[]>> = {
  deliveryId: [delivery.deliveryId],
  webhookId: [webhookId],
  eventId: ids,
  acceptedAt: times,
  body: texts,
  series: tokens,
  number: counts,
  copy: tokens,
  attempt: counts,
  paused: lengths,
  notBefore: times,
};
it.each(Object.entries(forms))('accepts as %s only values of its form, or names it', (name, valid) => {
  const parsed = values.map((value) => parseDelivery(JSON.stringify({ ...whole, [name]: value })));
  const refused = { ok: false, error: `"${name}" is invalid.` };
  const expected = values.map((value) => (valid.includes(value) ? { ok: true } : refused));
  expect(parsed).toMatchObject(expected);
});

it('accepts a delivery of the release before, without the optional fields', () => {
  expect(parseDelivery(JSON.stringify(delivery))).toEqual({ ok: true, value: delivery });
});

const redelivery = { eventId: ids, webhookId: [webhookId], series: ids };
it.each(Object.entries(redelivery))('accepts as %s of a redelivery only its form', (name, valid) => {
  const redeliver = { eventId: 'ev-1', webhookId, series: 'a' };
  const parse = (value: unknown) =>
    parseRedelivery(JSON.stringify({ redeliver: { ...redeliver, [name]: value } }));
  expect(values.filter((value) => parse(value)?.ok)).toEqual(valid);
});
