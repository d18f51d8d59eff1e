import { randomBytes } from 'node:crypto';
import { splitDelivery, verify } from '../../dashboard/verify';
import { secretText, sign } from '../../domain/signature';

const names = ['webhook-signature', 'X-SVC-WEBHOOK-SIGNATURE', 'Svc-Signature'];
const now = Date.UTC(2026, 10, 20, 12);
const timestamp = now / 1000 - 60;
const [key, older] = [randomBytes(32), randomBytes(32)];
const [secret, otherSecret] = [secretText(key), secretText(older)];
const id = 'msg_1';
const body = '{"id":"evt_1","data":{"name":"Zürich €"}}';
const signature = sign({ id, timestamp, body }, [key]);

interface Change extends Partial<Record<'text' | 'body' | 'secret', string>> {
  readonly headers?: Readonly<Record<string, string>>;
  readonly now?: number;
}

const signed = (value: string) => Object.fromEntries(names.map((name) => [name, value]));
const received = {
  'content-type': 'application/json',
  'webhook-id': id,
  'webhook-timestamp': `${timestamp}`,
  ...signed(signature),
};
const lines = (headers?: Change['headers']) =>
  Object.entries({ ...received, ...headers })
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

const check = ({ headers, text = lines(headers), now: at = now, ...others }: Change) =>
  verify({ body, secret, ...others, headers: text }, names, at);

const onlyLast = { ...signed(''), 'Svc-Signature': signature };
const rotated = signed(sign({ id, timestamp, body }, [key, older]));
const untimed = { headers: { 'webhook-timestamp': '' } };
const escaped = JSON.stringify(body);
const windows = '{\r\n"a": 1\r\n}';
const fromWindows = signed(sign({ id, timestamp, body: windows }, [key]));
const unlike = { headers: fromWindows, body: windows.replaceAll('\r', '') };
const after = (seconds: number) => ({ now: (timestamp + seconds) * 1000 });

it.each<[string, Change, string]>([
  ['what the product sends', {}, 'valid'],
  ['only one signature header', { headers: onlyLast }, 'valid'],
  ['the old secret after a rotation', { headers: rotated, secret: otherSecret }, 'valid'],
  ['an unknown version', { headers: signed(`v2,abc ${signature}`) }, 'valid'],
  ['the earliest time', after(-300), 'valid'],

  ['a time of the future', after(-301), 'stale'],
  ['an old time', after(301), 'stale'],

  ['another body', { body: body.replace('evt_1', 'evt_2') }, 'invalid'],
  ['another secret', { secret: otherSecret }, 'invalid'],
  ['a line break at the end', { body: `${body}\n` }, 'invalid'],
  ['an escaped body', { body: escaped }, 'invalid'],
  ['an escaped body and another secret', { body: escaped, secret: otherSecret }, 'invalid'],
  ['an escaped body without its quotes', { body: escaped.slice(1, -1) }, 'invalid'],
  ['pretty-printing', { body: JSON.stringify(JSON.parse(body), null, 2) }, 'invalid'],
  ['line breaks changed by a text field', unlike, 'invalid'],

  ['no time', untimed, 'incomplete'],
  ['two ids', { text: `${lines()}\nwebhook-id: msg_2` }, 'incomplete'],
  ['signatures that differ', { headers: { 'Svc-Signature': 'v1,x' } }, 'incomplete'],
  ['milliseconds', { headers: { 'webhook-timestamp': `${now}` } }, 'incomplete'],
  ['no known version', { headers: signed('v1a,abc') }, 'incomplete'],
  ['a part of a secret', { secret: secret.slice(0, 20) }, 'incomplete'],
])('with %s', async (_, change, verdict) => {
  const { title, details, problems = [], compared, ...verified } = await check(change);
  expect(verified).toEqual({ verdict });
  // All that a person reads.
  expect([title, ...details, ...problems.map(([, problem]) => problem)].join('\n')).toMatchSnapshot();
  // What is compared agrees with the verdict, unless the pasted body is not the one that was signed.
  expect(compared?.received.includes(compared.expected) ?? 'incomplete').toBe(
    { valid: true, stale: true, invalid: false, incomplete: 'incomplete' }[verdict],
  );
});

const pairs = Object.entries({ ...received, ...rotated });
const inLines = (form: (name: string, value: string) => string, separator = '\n') =>
  pairs.map(([name, value]) => form(name, value)).join(separator);
const cgi = (name: string) => `HTTP_${name.toUpperCase().replaceAll('-', '_')}`;
const titled = (name: string) => name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());

/** As frameworks of PHP hold headers: several values each. */
const printed = `Array\n(\n${inLines(
  (name, value) => `    [${titled(name)}] => Array\n        (\n            [0] => ${value}\n        )\n`,
)}\n)\n`;

/** How tools and frameworks show headers: one for each kind of text in `between` of dashboard/verify.ts. */
const forms: Readonly<Record<string, string>> = {
  'lines of Windows': inLines((name, value) => `${name}: ${value}`, '\r\n'),
  'JSON in a JSON string': JSON.stringify(JSON.stringify(Object.fromEntries(pairs))),
  'a HAR file': JSON.stringify(pairs.map(([name, value]) => ({ name, value }))),
  "Django's META": `{${inLines((name, value) => `'${cgi(name)}': '${value}'`, ', ')}}`,
  "ASGI's bytes": `[${inLines((name, value) => `(b'${name}', b'${value}')`, ', ')}]`,
  "PHP's print_r of arrays": printed,
  "PHP's var_dump of arrays": inLines(
    (name, value) => `  ["${name}"]=>\n  array(1) {\n    [0]=>\n    string(${value.length}) "${value}"\n  }`,
  ),
  "Laravel's dd": `array:6 [▼\n${inLines((name, value) => `  "${name}" => array:1 [▼\n    0 => "${value}"\n  ]`)}\n]`,
  "Xdebug's var_dump": inLines(
    (name, value) =>
      `  '${name}' => \n    array (size=1)\n      0 => string '${value}' (length=${value.length})`,
  ),
  'beside a header with their names': `Vary: ${pairs.map(([name]) => name).join(', ')}\n${lines({ ...rotated })}`,
};

it.each(Object.entries(forms))('reads %s', async (_, text) => {
  expect(await check({ text, secret: otherSecret })).toMatchObject({ verdict: 'valid' });
});

const empty = ['array:0 []', 'Array\n(\n)', 'Array\n(\n    [0] => \n)', 'array (size=0)\n  empty'];
it.each(empty)('finds no value in %j', async (text) => {
  const { problems } = await check({ text: lines({ 'webhook-timestamp': text }) });
  expect(problems).toEqual([['headers', expect.stringContaining('webhook-timestamp. Write')]]);
});

it('names all missing fields, and headers without a value, at once', async () => {
  const headers = pairs.map(([name, value]) => `<td>${name}</td><td>${value}</td>`).join('');
  const { verdict, problems } = await verify({ headers, body: '', secret: '' }, names, now);
  expect(verdict).toBe('incomplete');
  expect(problems).toEqual([
    ['headers', expect.stringContaining(`webhook-id, webhook-timestamp, one of ${names.join(', ')}. Write`)],
    ['body', 'The body is missing.'],
    ['secret', 'The secret is missing.'],
  ]);
});

it('shows the id, timestamp and body that are signed, their signature and those received', async () => {
  const { compared } = await check({ headers: rotated });
  const received = rotated['Svc-Signature']?.split(' ');
  expect(compared).toEqual({ signed: [id, `${timestamp}`, body], expected: signature, received });
});

const options = lines().replace(/^.*$/gm, "-H '$&' \\");
it.each([
  ['a line of wallet local receive', JSON.stringify({ date: '', verified: true, headers: received, body })],
  ['a whole request', `POST / HTTP/1.1\r\n${lines().replaceAll('\n', '\r\n')}\r\n\r\n${body}`],
  ['a curl command', `curl 'https://a.example/' \\\n  ${options} --data-raw '${body}'`],
  ["PHP's print_r of arrays, and the body", `${printed}\n${body}`],
  ['headers in another order', `${lines().split('\n').reverse().join('\n')}\n\n${body}`],
])('divides %s into headers and body that verify', async (_, text) => {
  const [headers = '', divided] = splitDelivery(text) ?? [];
  expect(divided).toBe(body);
  expect(await check({ text: headers })).toMatchObject({ verdict: 'valid' });
});

it.each([
  ['headers', lines()],
  ["PHP's print_r of arrays", printed],
  ['a body', body],
])('does not divide %s', (_, text) => expect(splitDelivery(text)).toBeUndefined());
