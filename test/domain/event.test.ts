import { maxEventBytes, parseEvent } from '../../domain/event';

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

it.each(['{', '[]', 'null', '"event"', ''])('refuses %j', (text) => {
  expect(parseEvent(text)).toEqual({ ok: false, error: 'The event is not a JSON object.' });
});

it.each(Object.keys(event))('refuses an event without %s, naming it', (name) => {
  const { [name as 'id']: _, ...rest } = event;
  expect(parseEvent(JSON.stringify(rest))).toEqual({ ok: false, error: `The event lacks: ${name}.` });
});

// Lengths and types are compared with the documented schema in test/contract/webhooks.test.ts.
it.each([
  ['an unknown field, which would be signed too', { more: 1 }, 'fields other than'],
  ['a full stop in the id, which delimits the signed text', { id: 'ev.1' }, '"id" must be'],
  ['a line break in the id, which is a header', { id: 'ev-1\n' }, '"id" must be'],
  [
    'the id of something else',
    { organizationId: 'ug-aaaaa-bbbbb-cccccccccccccc' },
    '"organizationId" must be',
  ],
  ['a kind with a space', { kind: 'wallet created' }, '"kind" must be'],
  ['a date without a time', { date: '2026-11-20' }, '"date" must be'],
  ['a date that does not exist', { date: '2026-13-20T12:00:00Z' }, '"date" must be'],
  ['a date without its zone', { date: '2026-11-20T12:00:00' }, '"date" must be'],
])('refuses %s', (_name, change, reason) => {
  const error = expect.stringContaining(reason);
  expect(parseEvent(JSON.stringify({ ...event, ...change }))).toEqual({ ok: false, error });
});

it.each([
  ['a whole pair of surrogates', String.raw`"\ud83d\ude00"`],
  ['the character itself', '"😀"'],
  ['a backslash before what looks like a surrogate', String.raw`"\\ud83d"`],
  ['a quotation mark before a pair', String.raw`{"\"\ud83d\ude00":"\\"}`],
  ['a name in several objects', '[{"b":{"a":1},"a":2},{"a":3}]'],
])('accepts %s', (_name, json) => {
  expect(parseEvent(withData(json)).ok).toBe(true);
});

it.each([
  ['high', String.raw`"\ud83d"`],
  ['low', String.raw`"\uDE00"`],
  ['deep', `${'['.repeat(20_000)}"\\ud83d"${']'.repeat(20_000)}`],
  ['in a name', String.raw`{"a":{"\ud83d":1}}`],
  ['after a backslash', String.raw`"\\\ud83d"`],
  ['hidden by a later value of its name', String.raw`{"a":"\ud83d","a":1}`],
])('refuses an unpaired surrogate: %s', (_name, json) => {
  const error = expect.stringContaining('an unpaired surrogate');
  expect(parseEvent(withData(json))).toEqual({ ok: false, error });
});

const other = '"or-aaaaa-bbbbb-dddddddddddddddd"';
it.each([
  ['in the event', '"kind"', `"organizationId":${other},"kind"`],
  ['spelt with an escape', '"kind"', String.raw`"organization\u0049d":${other},"kind"`],
  ['in its data', '"data":', '"data":[{"a":1,"a":2}],"data2":'],
])('rejects duplicate names %s: parsers disagree on it', (_, name, replacement) => {
  const error = expect.stringContaining('duplicate names');
  const text = JSON.stringify(event).replace(name, replacement);
  expect(parseEvent(text)).toEqual({ ok: false, error });
});

it('limits the bytes, not the characters', () => {
  const room = maxEventBytes - Buffer.byteLength(withData('""'));
  const texts = ['a'.repeat(room), 'a'.repeat(room + 1), 'é'.repeat(room - 10)];
  expect(texts.map((text) => parseEvent(withData(`"${text}"`)).ok)).toEqual([true, false, false]);
});
