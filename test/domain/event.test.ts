import { parseDelivery } from '../../domain/delivery';
import { disabledEvent, parseEvent } from '../../domain/event';
import { parseStrictObject } from '../../domain/strict-json';

const event = {
  id: 'ev-1',
  organizationId: 'or-aaaaa-bbbbb-cccccccccccccc',
  kind: 'wallet.created',
  date: '2026-11-20T12:00:00.000Z',
  data: { amount: 1 },
};
const withData = (json: string) => JSON.stringify({ ...event, data: 'DATA' }).replace('"DATA"', () => json);

it('does not change the bytes of an event, such as numbers beyond 2^53', () => {
  const text = withData('{"amount": 12345678901234567890 }');
  const { id, organizationId, kind } = event;
  expect(parseEvent(text)).toEqual({ ok: true, value: { id, organizationId, kind, text } });
});

// Its fields are compared with the documented schema in test/contract/webhooks.test.ts.
it('refuses an unknown field, which would be signed too', () => {
  const error = expect.stringContaining('fields other than');
  expect(parseEvent(JSON.stringify({ ...event, more: 1 }))).toEqual({ ok: false, error });
});

const other = '"or-aaaaa-bbbbb-dddddddddddddddd"';
/** Lists and objects, this many levels in all. */
const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`;
const digits = (count: number) => '9'.repeat(count);
const longName = (units: number, one = 'n') => `{"${one.repeat(units)}":1}`;

it.each([
  ['a pair of surrogates', String.raw`"\ud83d\ude00"`],
  ['an escaped backslash', String.raw`["\\ud83d","\\u0000"]`],
  ['escapes in a name', String.raw`{"\"\ud83d\ude00":"\\"}`],
  ['a name in several objects', '[{"b":{"a":1},"a":2},{"a":3}]'],
  ['100 levels with the envelope', `[${nested(98)}]`],
  ['99 levels twice, and a text of brackets', `[${nested(98)},${nested(98)},"[[{{"]`],
  ['names that differ in case, and none', '{"a":1,"A":2,"":3,"constructor":{"a":{"prototype":1}}}'],
  ['prototype beside constructor, or in a list of it', '{"constructor":[{"prototype":1}],"prototype":1}'],
  ['the largest and smallest doubles', '[1.7976931348623157e308,-1.7976931348623157E+308,5e-324,-0]'],
  ['digits beyond 2^53, and what a double rounds to 0', '[12345678901234567890,1e-400,0e99999,0e-16383]'],
  ['1,000 digits', `[0.${digits(999)},${digits(300)}.${digits(700)},1e-${'0'.repeat(998)}9]`],
  ['a name of 50,000 bytes', longName(50_000)],
])('accepts an event with %s', (_, json) => {
  expect(parseEvent(withData(json))).toMatchObject({ ok: true });
});

it.each([
  ['one in a name', String.raw`an unpaired surrogate at data.a["\ud83d"]:`, String.raw`{"a":{"\ud83d":1}}`],
  ['one after an escaped backslash', 'an unpaired surrogate', String.raw`"\\\ud83d"`],
  ['8,000 levels', 'more than 100 levels of objects and lists at data[0].a[0].a[0].a', nested(8_000)],
  ['a name twice in an object of a list', 'duplicate names at data[0].a:', '[{"a":1,"a":2}]'],
  ['one of them escaped', 'duplicate names at organizationId:', String.raw`1,"organization\u0049d":${other}`],
  ['__proto__', 'a member "__proto__", or', '{"__proto__":null}'],
  ['one escaped and deep', 'a member "__proto__", or', String.raw`[[{"a":[{"\u005f_proto\u005F_":1}]}]]`],
  ['constructor with prototype', 'with "prototype" in it at data.', '{"constructor":{"a":1,"prototype":1}}'],
  ['U+0000 in a string', 'U+0000 at data[1].memo:', String.raw`[0,{"memo":"a\u0000b"}]`],
  ['U+0000 in a name', String.raw`U+0000 at data.a["\u0000b"]:`, String.raw`{"a":{"\u0000b":1}}`],
  ['a name of 50,002 bytes in UTF-8', 'more than 50,000 bytes at data["', longName(25_001, '\u00e9')],
  ['-1E+400', "a number beyond a double's range at data.a[2]:", '{"a":[1,[2,3],-1E+400]}'],
  ['the next after the largest', "a number beyond a double's range", '1.7976931348623159e308'],
  ['1,001 digits of a whole number', 'a number of more than 1,000 digits', digits(1_001)],
  ['1,001 digits of a fraction', 'a number of more than 1,000 digits', `0.${digits(1_000)}`],
  ['1,001 digits of an exponent', 'a number of more than 1,000 digits', `1e${'0'.repeat(999)}1`],
  ['exponents that jsonb refuses', 'an exponent that parsers refuse at data:', '0e-16384'],
  ['decimal places that jsonb refuses', 'an exponent that parsers refuse at data:', '1.5e-16383'],
])('refuses an event with %s, and says where', (_, reason, json) => {
  const refused = parseEvent(withData(json));
  expect(refused).toEqual({ ok: false, error: expect.stringContaining(reason) });
  // SQS accepts it as an attribute beside 64 KiB.
  expect(refused.ok || refused.error).toMatch(/^[ -~]{1,500}$/);
});

it('refuses nothing new where tokens, stored events and deliveries are parsed', () => {
  const json = String.raw`{"__proto__":1,"n":1e400,"a":"\u0000","b":{"constructor":{"prototype":1}}}`;
  expect([parseStrictObject(json), parseStrictObject(`{"a":${nested(100)}}`)]).not.toContain(undefined);
  expect(parseStrictObject(`{"a":[${nested(100)}]}`)).toBeUndefined();
  const ids = { deliveryId: `msg_${'0'.repeat(32)}`, webhookId: 'wh-aaaaa-bbbbb-cccccccccccccccc' };
  const body = withData(json);
  const delivery = JSON.stringify({ ...ids, eventId: 'evt_1', acceptedAt: 1, body });
  expect(parseDelivery(delivery)).toMatchObject({ value: { body } });
});

it.each([
  ['0001-01-01T14:00:00+14:00', true],
  ['9999-12-31T23:59:59.999999999Z', true],
  ['9999-12-31T09:59:59-14:00', true],
  ['0000-12-31T23:59:59-01:00', false],
  ['0001-01-01T00:00:00+00:01', false],
  ['9999-12-31T23:59:59-01:00', false],
])('the date %s is accepted: %s', (date, accepted) => {
  expect(parseEvent(JSON.stringify({ ...event, date })).ok).toBe(accepted);
});

it('limits the bytes, not the characters', () => {
  const room = 65_536 - Buffer.byteLength(withData('""'));
  const texts = ['a'.repeat(room), 'a'.repeat(room + 1), 'é'.repeat(room - 10)];
  expect(texts.map((text) => parseEvent(withData(`"${text}"`)).ok)).toEqual([true, false, false]);
});

it('the id of webhook.disabled is that of one disabling of one webhook, whatever its reason', () => {
  const disabling = { webhookId: 'wh-1', organizationId: 'or-1', reason: 'gone', disabledAt: 1 };
  const idWith = (change: object) => disabledEvent({ ...disabling, ...change }).id;
  const ids = [{}, { reason: 'operator' }, { disabledAt: 2 }, { webhookId: 'wh-2' }].map(idWith);
  expect(ids.map((id) => ids.indexOf(id))).toEqual([0, 0, 2, 3]);
});
