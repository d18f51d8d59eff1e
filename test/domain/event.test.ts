import { disabledEvent, parseEvent } from '../../domain/event';

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
it.each([
  ['a pair of surrogates', 'nothing ambiguous', String.raw`"\ud83d\ude00"`],
  ['an escaped backslash', 'nothing ambiguous', String.raw`"\\ud83d"`],
  ['escapes in a name', 'nothing ambiguous', String.raw`{"\"\ud83d\ude00":"\\"}`],
  ['a name in several objects', 'nothing ambiguous', '[{"b":{"a":1},"a":2},{"a":3}]'],
  ['a lone surrogate', 'an unpaired surrogate', String.raw`"\ud83d"`],
  ['100 levels', 'nothing ambiguous', nested(100)],
  ['99 levels twice, and a text of brackets', 'nothing ambiguous', `[${nested(98)},${nested(98)},"[[{{"]`],
  ['101 levels', 'more than 100 levels of objects and lists', `[${nested(100)}]`],
  ['8,000 levels', 'more than 100 levels of objects and lists', nested(8_000)],
  ['one in a name', 'an unpaired surrogate', String.raw`{"a":{"\ud83d":1}}`],
  ['one after an escaped backslash', 'an unpaired surrogate', String.raw`"\\\ud83d"`],
  ['one before duplicate names', 'an unpaired surrogate', String.raw`{"a":"\ud83d","a":1}`],
  ['a name twice in an object of a list', 'duplicate names', '[{"a":1,"a":2}]'],
  ['a name twice in the event itself', 'duplicate names', `1,"organizationId":${other}`],
  ['one of them escaped', 'duplicate names', String.raw`1,"organization\u0049d":${other}`],
])('an event with %s contains %s', (_, reason, json) => {
  const refused = { ok: false, error: `The event contains ${reason}: parsers disagree on it.` };
  const expected = reason === 'nothing ambiguous' ? { ok: true } : refused;
  expect(parseEvent(withData(json))).toMatchObject(expected);
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
