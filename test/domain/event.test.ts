import { parseEvent } from '../../domain/event';

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

it.each([
  ['a pair of surrogates', String.raw`"\ud83d\ude00"`],
  ['an escaped backslash', String.raw`"\\ud83d"`],
  ['escapes in a name', String.raw`{"\"\ud83d\ude00":"\\"}`],
  ['a name in several objects', '[{"b":{"a":1},"a":2},{"a":3}]'],
])('accepts %s', (_name, json) => {
  expect(parseEvent(withData(json)).ok).toBe(true);
});

const other = '"or-aaaaa-bbbbb-dddddddddddddddd"';
it.each([
  ['in a value', 'an unpaired surrogate', withData(String.raw`"\ud83d"`)],
  [
    '20,000 lists deep',
    'an unpaired surrogate',
    withData(`${'['.repeat(20_000)}"\\ude00"${']'.repeat(20_000)}`),
  ],
  ['in a name', 'an unpaired surrogate', withData(String.raw`{"a":{"\ud83d":1}}`)],
  ['after an escaped backslash', 'an unpaired surrogate', withData(String.raw`"\\\ud83d"`)],
  ['before duplicate names', 'an unpaired surrogate', withData(String.raw`{"a":"\ud83d","a":1}`)],
  ['in an object of a list', 'duplicate names', withData('[{"a":1,"a":2}]')],
  ['of the event itself', 'duplicate names', withData(`1,"organizationId":${other}`)],
  ['one of them escaped', 'duplicate names', withData(String.raw`1,"organization\u0049d":${other}`)],
])('refuses, %s, %s: parsers disagree on it', (_, reason, text) => {
  const error = `The event contains ${reason}: parsers disagree on it.`;
  expect(parseEvent(text)).toEqual({ ok: false, error });
});

it('limits the bytes, not the characters', () => {
  const room = 65_536 - Buffer.byteLength(withData('""'));
  const texts = ['a'.repeat(room), 'a'.repeat(room + 1), 'é'.repeat(room - 10)];
  expect(texts.map((text) => parseEvent(withData(`"${text}"`)).ok)).toEqual([true, false, false]);
});
