import { maxEventBytes, parseEvent } from '../../domain/event';

const event = {
  id: 'ev-1',
  organizationId: 'or-aaaaa-bbbbb-cccccccccccccc',
  kind: 'wallet.created',
  date: '2026-11-20T12:00:00.000Z',
  data: { amount: 1 },
};

it('does not change the bytes of an event, such as numbers beyond 2^53', () => {
  const text = JSON.stringify(event).replace('1}', '12345678901234567890 }');
  expect(parseEvent(text)).toEqual({
    ok: true,
    value: { id: 'ev-1', organizationId: event.organizationId, kind: 'wallet.created', text },
  });
});

it.each([{ data: null }, { data: [1] }, { data: 'text' }, { date: '2026-11-20T12:00:00+04:00' }])(
  'accepts %j',
  (change) => {
    expect(parseEvent(JSON.stringify({ ...event, ...change })).ok).toBe(true);
  },
);

it.each([
  ['no JSON', '{'],
  ['an array', '[]'],
  ['null', 'null'],
  ['a string', '"event"'],
  ['nothing', ''],
])('refuses %s', (_name, text) => {
  expect(parseEvent(text)).toEqual({ ok: false, error: 'The event is not a JSON object.' });
});

it.each(Object.keys(event))('refuses an event without %s, naming it', (name) => {
  const { [name as 'id']: _, ...rest } = event;
  expect(parseEvent(JSON.stringify(rest))).toEqual({ ok: false, error: `The event lacks: ${name}.` });
});

it('refuses an unknown field, which would be signed too', () => {
  expect(parseEvent(JSON.stringify({ ...event, more: 1 })).ok).toBe(false);
});

// Lengths and types are compared with the documented schema in test/contract/webhooks.test.ts.
it.each([
  ['a full stop in the id, which delimits the signed text', { id: 'ev.1' }],
  ['a line break in the id, which is a header', { id: 'ev-1\n' }],
  ['the id of something else', { organizationId: 'ug-aaaaa-bbbbb-cccccccccccccc' }],
  ['a kind with a space', { kind: 'wallet created' }],
  ['a date without a time', { date: '2026-11-20' }],
  ['a date that does not exist', { date: '2026-13-20T12:00:00Z' }],
  ['a date without its zone', { date: '2026-11-20T12:00:00' }],
])('refuses %s', (_name, change) => {
  expect(parseEvent(JSON.stringify({ ...event, ...change })).ok).toBe(false);
});

const withData = (json: string) => JSON.stringify({ ...event, data: 'DATA' }).replace('"DATA"', () => json);

it.each([
  ['a whole pair of them, escaped', String.raw`"\ud83d\ude00"`],
  ['the character itself', '"😀"'],
  ['a backslash before what looks like one', String.raw`"\\ud83d"`],
  ['a quotation mark before a pair', String.raw`{"\"\ud83d\ude00":"\\"}`],
])('accepts surrogates as %s', (_name, json) => {
  expect(parseEvent(withData(json)).ok).toBe(true);
});

it.each([
  ['a high surrogate', String.raw`"\ud83d"`],
  ['a low surrogate', String.raw`"\uDE00"`],
  ['a pair in the wrong order', String.raw`"\ude00\ud83d"`],
  ['a high surrogate before a character', String.raw`"\ud83dx\ude00"`],
  ['a surrogate deep down', `${'['.repeat(20_000)}"\\ud83d"${']'.repeat(20_000)}`],
  ['a surrogate in a name', String.raw`{"a":{"\ud83d":1}}`],
  ['a surrogate after a backslash', String.raw`"\\\ud83d"`],
  ['a surrogate in a value that a later value of the name hides', String.raw`{"a":"\ud83d","a":1}`],
])('refuses %s, without its other half', (_name, json) => {
  expect(parseEvent(withData(json))).toEqual({
    ok: false,
    error: String.raw`The event holds an unpaired surrogate, such as \ud83d without its other half (RFC 7493).`,
  });
});

it.each([
  ['in the event', '"kind"', '"organizationId":"or-aaaaa-bbbbb-dddddddddddddddd","kind"'],
  [
    'spelt with an escape',
    '"kind"',
    String.raw`"organization\u0049d":"or-aaaaa-bbbbb-dddddddddddddddd","kind"`,
  ],
  ['in its data', '"data":', '"data":[{"a":1,"a":2}],"data2":'],
])('rejects duplicate names %s: parsers disagree on it', (_, name, replacement) => {
  expect(parseEvent(JSON.stringify(event).replace(name, replacement))).toEqual({
    ok: false,
    error: expect.stringContaining('duplicate names'),
  });
});

it('limits the bytes, not the characters', () => {
  const room = maxEventBytes - Buffer.byteLength(withData('""'));
  expect(parseEvent(withData(`"${'a'.repeat(room)}"`)).ok).toBe(true);
  expect(parseEvent(withData(`"${'a'.repeat(room + 1)}"`)).ok).toBe(false);
  expect(parseEvent(withData(`"${'é'.repeat(room - 10)}"`)).ok).toBe(false);
});
